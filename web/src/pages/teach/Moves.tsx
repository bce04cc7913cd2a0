import { Alert, Flex } from "antd";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { signed } from "@/pages/grades/how";
import { DataList } from "@/ui/DataList";
import { plain } from "@/ui/tags";
import { teachTexts } from "./texts";

/** Whose grades would move, before it is done. */
export function Moves({ moves }: { moves: Schemas["Move"][] }) {
  const t = useTexts(teachTexts);
  return (
    <Flex vertical gap="small" style={{ marginTop: 16 }}>
      <Alert
        role="status"
        type={moves.length === 0 ? "success" : "warning"}
        showIcon
        title={moves.length === 0 ? t("noMoves") : t("moves", { n: moves.length })}
      />
      {moves.length > 0 && (
        <DataList
          rows={moves}
          rowKey={(row) => `${row.login} ${row.lab}`}
          label={t("moves", { n: moves.length })}
          pagination={{ pageSize: 20, hideOnSinglePage: true }}
          columns={[
            { key: "who", title: t("who"), render: (row) => row.name || row.login },
            { key: "lab", title: t("lab"), render: (row) => row.lab },
            { key: "before", title: t("before"), render: (row) => (row.before === null ? "—" : plain(row.before)) },
            {
              key: "after",
              title: t("after"),
              render: (row) => (row.moved === 0 ? plain(row.after) : `${plain(row.after)} (${signed(row.moved)})`),
            },
            { key: "late", title: t("late"), render: (row) => t("days", { n: row.days_late }) },
          ]}
        />
      )}
    </Flex>
  );
}
