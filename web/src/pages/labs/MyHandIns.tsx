import { Button, Tag } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Points, StateTag, VerdictTag } from "@/ui/tags";
import { labTexts } from "./texts";

/** One's hand-ins in a lab, newest first. */
export function MyHandIns({ rows, zone }: { rows: readonly Schemas["Submission"][]; zone: string }) {
  const t = useTexts(labTexts);
  return (
    <DataList
      rows={rows}
      rowKey={(row) => row.id}
      label={t("mine")}
      empty={t("noneYet")}
      columns={[
        {
          key: "at",
          title: t("at"),
          render: (row) => (
            <Link to={`/submissions/${row.id}`}>
              <Moment at={row.submitted_at} zone={zone} />
            </Link>
          ),
        },
        {
          key: "file",
          title: t("file"),
          wideOnly: true,
          render: (row) => (
            <>
              {row.filename} {row.late && <Tag color="warning">{t("isLate")}</Tag>}
            </>
          ),
        },
        { key: "verdict", title: t("verdict"), render: (row) => <Result row={row} /> },
        {
          key: "points",
          title: t("result"),
          render: (row) => <Points points={row.attempt?.points} of={row.attempt?.max_points} />,
        },
        {
          key: "receipt",
          title: t("receiptColumn"),
          wideOnly: true,
          render: (row) =>
            row.state === "accepted" && (
              <Button size="small" href={`/api/submissions/${row.id}/receipt`} download>
                {t("receipt")}
              </Button>
            ),
        },
      ]}
    />
  );
}

function Result({ row }: { row: Schemas["Submission"] }) {
  const t = useTexts(labTexts);
  if (row.refusal) return <Tag color="error">{t("invalid")}</Tag>;
  const attempt = row.attempt;
  if (!attempt) return <span>—</span>;
  return attempt.verdict ? (
    <VerdictTag verdict={attempt.verdict} text={attempt.verdict_text} />
  ) : (
    <StateTag state={attempt.state} />
  );
}
