import { Card, Flex, Segmented, Tag, Typography } from "antd";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { peopleTexts } from "./texts";

type Preview = Schemas["RosterPreview"];
type Change = Schemas["RosterChange"];

const KINDS = ["added", "dropped", "returned", "changed"] as const;
type Kind = (typeof KINDS)[number];
const COUNTED = { added: "addedN", dropped: "droppedN", returned: "returnedN", changed: "changedN" } as const;
const ONE = { added: "add1", dropped: "drop1", returned: "return1", changed: "change1" } as const;
const COLOURS = { added: "success", dropped: "warning", returned: "processing", changed: "default" } as const;
const FIELDS = { name: "name", section: "section", login: "login", email: "email" } as const;

/** What applying the file would change: + − ↩ ✎. */
export function RosterDiff({ found }: { found: Preview }) {
  const t = useTexts(peopleTexts);
  const [shown, setShown] = useState<Kind | "all">("all");
  const rows = found.changes.filter((change) => shown === "all" || change.what === shown);
  const count = (kind: Kind) => found.changes.filter((change) => change.what === kind).length;
  return (
    <Card size="small" title={t("diff")}>
      <Flex vertical gap="middle">
        {found.changes.length === 0 ? (
          <Typography.Text strong>{t("nothing")}</Typography.Text>
        ) : (
          <div style={{ overflowX: "auto" }}>
            <Segmented<Kind | "all">
              aria-label={t("what")}
              value={shown}
              onChange={setShown}
              options={[
                { value: "all" as const, label: t("all", { n: found.changes.length }) },
                ...KINDS.map((kind) => ({ value: kind, label: t(COUNTED[kind], { n: count(kind) }) })),
              ]}
            />
          </div>
        )}
        <Typography.Text type="secondary">
          {t("unchanged", { n: found.unchanged })}
          {found.kept > 0 && ` · ${t("kept", { n: found.kept })}`}
        </Typography.Text>
        {rows.length > 0 && (
          <DataList
            rows={rows}
            rowKey={(row) => `${row.what} ${row.login}`}
            label={t("diff")}
            pagination={rows.length > 50 ? { pageSize: 50, showSizeChanger: false } : false}
            columns={[
              { key: "what", title: t("what"), render: (row) => <What of={row.what as Kind} /> },
              { key: "number", title: t("number"), render: (row) => row.student_number ?? row.login },
              { key: "name", title: t("name"), render: (row) => row.name },
              { key: "section", title: t("section"), render: (row) => row.section || "—" },
              { key: "details", title: t("details"), render: (row) => <Fields of={row} /> },
            ]}
          />
        )}
      </Flex>
    </Card>
  );
}

function What({ of }: { of: Kind }) {
  const t = useTexts(peopleTexts);
  return <Tag color={COLOURS[of]}>{t(ONE[of])}</Tag>;
}

function Fields({ of }: { of: Change }) {
  const t = useTexts(peopleTexts);
  const fields = Object.entries(of.fields) as [keyof typeof FIELDS, [string, string]][];
  if (fields.length === 0) return <>—</>;
  return (
    <>
      {fields.map(([field, [old, now]]) => (
        <div key={field}>
          {t(FIELDS[field] ?? "details")}: <del>{old || "—"}</del> → <strong>{now}</strong>
        </div>
      ))}
    </>
  );
}
