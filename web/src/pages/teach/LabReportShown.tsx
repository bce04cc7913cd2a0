import { Alert, Flex, Tag, Typography } from "antd";
import type { Schemas } from "@/api/client";
import { either, useLanguage, useTexts } from "@/i18n";
import { plain } from "@/ui/tags";
import { teachTexts } from "./texts";

/** What was found in a lab folder, by file and line. */
export function LabReportShown({ report }: { report: Schemas["LabReport"] }) {
  const t = useTexts(teachTexts);
  const { language } = useLanguage();
  const title = report.title === null ? "lab.toml" : either(report.title, report.title_en, language);
  return (
    <Flex vertical gap="small">
      <Alert
        role="status"
        type={report.ok ? "success" : "error"}
        showIcon
        title={report.ok ? t("good", { title }) : t("bad", { n: report.errors.length })}
      />
      {report.ok && (
        <div>
          {report.checks.map((check, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two checks may be alike, and the list never moves
            <Tag key={index}>{t("points", { kind: check.kind, n: plain(check.weight) })}</Tag>
          ))}
        </div>
      )}
      <Found label={t("errors")} rows={report.errors} type="danger" />
      <Found label={t("warnings")} rows={report.warnings} type="warning" />
    </Flex>
  );
}

function Found({ label, rows, type }: { label: string; rows: Schemas["LabProblem"][]; type: "danger" | "warning" }) {
  const t = useTexts(teachTexts);
  if (rows.length === 0) return null;
  return (
    <section>
      <Typography.Title level={3} style={{ fontSize: 15 }}>
        {label}
      </Typography.Title>
      <ul style={{ margin: 0, paddingInlineStart: 20 }}>
        {rows.map((row) => (
          <li key={`${row.file}:${row.line}:${row.key}:${row.message}`} style={{ overflowWrap: "anywhere" }}>
            <Typography.Text type={type}>{t("place", { file: row.file, line: row.line })}</Typography.Text>{" "}
            {row.key && <code>{row.key}</code>} {row.message}
          </li>
        ))}
      </ul>
    </section>
  );
}
