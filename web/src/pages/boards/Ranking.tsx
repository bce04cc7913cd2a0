import { Tag } from "antd";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { boardTexts } from "./texts";

interface Props {
  rows: readonly Schemas["Entry"][];
  zone?: string;
}

/** The lines of a board; one's own is marked. */
export function Ranking({ rows, zone }: Props) {
  const t = useTexts(boardTexts);
  return (
    <DataList
      rows={rows}
      rowKey={(row) => `${row.name}:${row.at}`}
      label={t("boards")}
      empty={t("noEntries")}
      highlight={(row) => row.mine}
      pagination={rows.length > 100 ? { pageSize: 100, showSizeChanger: false } : false}
      columns={[
        { key: "rank", title: t("rank"), width: 80, render: (row) => row.rank ?? "—" },
        {
          key: "name",
          title: t("name"),
          render: (row) => (
            <>
              {row.name} {row.mine && <Tag color="processing">{t("mine")}</Tag>}
              {row.bonus && <Tag color="success">{t("bonus")}</Tag>}
            </>
          ),
        },
        { key: "score", title: t("score"), render: (row) => row.score ?? "—" },
        { key: "at", title: t("at"), wideOnly: true, render: (row) => <Moment at={row.at} zone={zone} /> },
      ]}
    />
  );
}
