import { useMutation, useQuery } from "@tanstack/react-query";
import { Button, Card, Tag, Typography } from "antd";
import { useState } from "react";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Chart } from "@/ui/Chart";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { boardTexts } from "./texts";

/** One's entries (and the group's), the course of their scores, and which count in the end. */
export function MyEntries({ board }: { board: Schemas["PredictionRanking"] }) {
  const t = useTexts(boardTexts);
  const path = { cohort: board.cohort, board: board.slug };
  const found = useQuery({
    queryKey: ["board", board.cohort, board.slug, "entries"],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/boards/{board}/entries", { params: { path } })),
  });
  const [picked, setPicked] = useState<string[] | null>(null);
  const choose = useMutation({
    mutationFn: (entries: string[]) =>
      body(api.PUT("/api/cohorts/{cohort}/boards/{board}/selection", { params: { path }, body: { entries } })),
    onSuccess: async () => {
      await found.refetch();
      setPicked(null);
    },
  });
  const rows = found.data?.items ?? [];
  if (found.isError) return <Problem error={found.error} retry={() => void found.refetch()} />;
  if (rows.length === 0) return null;
  const scored = rows.filter((row) => row.state === "scored");
  const chosen = picked ?? scored.filter((row) => row.selected).map((row) => row.id);
  const curve = scored.map((row) => [Date.parse(row.submitted_at), Number(row.shown)] as const).reverse();
  return (
    <Card size="small" title={t("entries")}>
      {curve.length > 1 && (
        <Chart
          title={t("history")}
          height={180}
          series={[{ name: t("history"), points: curve }]}
          x={{ kind: "time" }}
          summary={t("historySays", { n: curve.length, last: scored[0]?.shown ?? "—" })}
        />
      )}
      {board.phase === "open" && board.selections > 0 && (
        <Typography.Paragraph type="secondary">
          {t("chooseLead", { n: board.selections })}{" "}
          <Button
            size="small"
            disabled={picked === null}
            loading={choose.isPending}
            onClick={() => choose.mutate(chosen)}
          >
            {t("choose")}
          </Button>
        </Typography.Paragraph>
      )}
      {choose.isError && <Problem error={choose.error} />}
      <DataList
        rows={rows}
        rowKey={(row) => row.id}
        label={t("entries")}
        selection={
          board.phase === "open" && board.selections > 0
            ? {
                selectedRowKeys: chosen,
                hideSelectAll: true,
                onChange: (keys) => setPicked(keys as string[]),
                getCheckboxProps: (row) => ({ disabled: row.state !== "scored" }),
              }
            : undefined
        }
        columns={[
          { key: "at", title: t("at"), render: (row) => <Moment at={row.submitted_at} zone={board.zone} /> },
          { key: "file", title: t("file"), render: (row) => row.filename },
          { key: "score", title: t("score"), render: (row) => <Outcome entry={row} /> },
          {
            key: "receipt",
            title: "",
            render: (row) =>
              row.state === "scored" && (
                <Button size="small" href={`/api/entries/${row.id}/receipt`} download>
                  {t("receipt")}
                </Button>
              ),
          },
        ]}
      />
    </Card>
  );
}

function Outcome({ entry }: { entry: Schemas["PredictionEntry"] }) {
  const t = useTexts(boardTexts);
  if (entry.state === "withdrawn") return <Tag>{t("withdrawn")}</Tag>;
  if (entry.state !== "scored") return <Tag color="error">{t(entry.state === "failed" ? "failed" : "invalid")}</Tag>;
  return (
    <>
      {entry.shown} {entry.selected && <Tag color="processing">{t("chosen")}</Tag>}
    </>
  );
}
