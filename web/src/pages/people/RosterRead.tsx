import { Alert, Card, Flex, Select, Tag, Typography } from "antd";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { peopleTexts } from "./texts";

type Preview = Schemas["RosterPreview"];

const ENCODINGS = ["utf-8", "gb18030", "utf-16", "big5"] as const;
const FIELDS: Record<string, keyof typeof peopleTexts> = {
  student_number: "number",
  name: "name",
  section: "section",
  login: "login",
  email: "email",
};

interface Props {
  found: Preview;
  encoding: string | undefined;
  onEncoding: (encoding: string | undefined) => void;
}

/** How a file was understood: encoding, names, columns, and the rows that are left out. */
export function RosterRead({ found, encoding, onEncoding }: Props) {
  const t = useTexts(peopleTexts);
  const isText = found.delimiter !== "xlsx";
  return (
    <Card size="small" title={t("how")}>
      <Flex vertical gap="middle">
        <Flex gap="middle" wrap align="center">
          {isText ? (
            <Select
              aria-label={t("encoding")}
              style={{ minWidth: 200 }}
              value={encoding ?? ""}
              onChange={(value) => onEncoding(value || undefined)}
              options={[
                {
                  value: "",
                  label: encoding ? t("guessed", { encoding: "?" }) : t("guessed", { encoding: found.encoding }),
                },
                ...ENCODINGS.map((one) => ({ value: one as string, label: one.toUpperCase() })),
              ]}
            />
          ) : (
            <Tag>{found.encoding}</Tag>
          )}
          <Typography.Text>{t("rows", { n: found.rows })}</Typography.Text>
        </Flex>
        {found.sample_names.length > 0 && (
          <Flex gap="small" wrap align="center">
            <Typography.Text type="secondary">{t("samples")}</Typography.Text>
            {found.sample_names.map((name) => (
              <Typography.Text strong key={name}>
                {name}
              </Typography.Text>
            ))}
          </Flex>
        )}
        <Columns columns={found.columns} />
        {found.problems.length > 0 && (
          <Alert
            type="warning"
            showIcon
            title={t("problems", { n: found.problems.length })}
            description={<Lines lines={found.problems.map((one) => one.message)} />}
          />
        )}
        {found.notes.length > 0 && <Alert type="info" title={t("notes")} description={<Lines lines={found.notes} />} />}
      </Flex>
    </Card>
  );
}

function Columns({ columns }: { columns: Preview["columns"] }) {
  const t = useTexts(peopleTexts);
  return (
    <Flex gap="small" wrap align="center">
      <Typography.Text type="secondary">{t("columns")}</Typography.Text>
      {columns.map(([heading, field], at) => {
        const known = field ? FIELDS[field as string] : undefined;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same heading
          <Tag key={at} color={known ? "success" : "default"} style={{ whiteSpace: "normal" }}>
            {heading || "—"} → {known ? t(known) : t("unused")}
          </Tag>
        );
      })}
    </Flex>
  );
}

/** The first lines; a file of another kind may have a mistake in each. */
function Lines({ lines }: { lines: readonly string[] }) {
  const shown = lines.slice(0, 50);
  return (
    <ul style={{ margin: 0, paddingInlineStart: 20 }}>
      {shown.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sentences may repeat, and never move
        <li key={at}>{line}</li>
      ))}
      {lines.length > shown.length && <li>…</li>}
    </ul>
  );
}
