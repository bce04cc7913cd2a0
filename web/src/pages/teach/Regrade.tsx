import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Card, Flex, Popconfirm, Tag, Typography } from "antd";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { signed } from "@/pages/grades/how";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { plain } from "@/ui/tags";
import { RegradeState } from "./LabRegrades";
import { teachTexts } from "./texts";

type Shown = Schemas["RegradeShown"];

/** A rehearsal: who moves and why, then it is applied exactly as it was looked at, or dropped. */
export default function Regrade() {
  const t = useTexts(teachTexts);
  const { cohort = "", lab = "", regrade = "" } = useParams();
  const queries = useQueryClient();
  const key = ["regrade", regrade];
  const found = useQuery({
    queryKey: key,
    queryFn: () => body(api.GET("/api/regrades/{regrade}", { params: { path: { regrade } } })),
    refetchInterval: (query) => ((query.state.data?.waiting ?? 0) > 0 ? 3000 : false),
  });
  const done = (shown: Shown) => {
    queries.setQueryData(key, shown);
    for (const other of ["regrades", "gradebook"]) void queries.invalidateQueries({ queryKey: [other, cohort] });
  };
  const apply = useMutation({
    mutationFn: (digest: string) =>
      body(api.POST("/api/regrades/{regrade}/apply", { params: { path: { regrade } }, body: { digest } })),
    onSuccess: done,
    onError: () => void found.refetch(),
  });
  const drop = useMutation({
    mutationFn: () => body(api.POST("/api/regrades/{regrade}/drop", { params: { path: { regrade } } })),
    onSuccess: done,
  });
  const shown = found.data;
  const isOpen = shown?.regrade.state === "open";
  return (
    <Page
      title={t("regrade", { lab })}
      above={<Link to={`/c/${cohort}/teach/labs/${lab}`}>{t("regrades")}</Link>}
      extra={
        isOpen && (
          <>
            <Popconfirm title={t("dropAsk")} onConfirm={() => drop.mutate()}>
              <Button loading={drop.isPending}>{t("drop")}</Button>
            </Popconfirm>
            <Popconfirm
              title={t("applyAsk", { n: shown.lines.length })}
              onConfirm={() => apply.mutate(shown.digest)}
              disabled={shown.waiting > 0}
            >
              <Button type="primary" loading={apply.isPending} disabled={shown.waiting > 0}>
                {t("apply")}
              </Button>
            </Popconfirm>
          </>
        )
      }
    >
      {apply.isError && <Problem error={apply.error} />}
      {drop.isError && <Problem error={drop.error} />}
      <Answer of={found}>{(one) => <Found shown={one} />}</Answer>
    </Page>
  );
}

const FAULTS = ["infra_error", "not_run", "cancelled"] as const;

function Found({ shown }: { shown: Shown }) {
  const t = useTexts(teachTexts);
  const { regrade, lines, faults } = shown;
  const wordOf = (verdict: string) => {
    const known = FAULTS.find((one) => one === verdict);
    return known ? t(known) : verdict;
  };
  const isApplied = regrade.state === "applied";
  return (
    <>
      <Flex wrap gap="middle" align="center">
        <RegradeState state={regrade.state} />
        <span style={{ overflowWrap: "anywhere" }}>{regrade.reason}</span>
        <Typography.Text type="secondary">
          {t("version")} <code>{regrade.version}</code> · {t("graded", { n: shown.graded })}
        </Typography.Text>
      </Flex>
      {shown.waiting > 0 && <Alert role="status" type="info" showIcon title={t("waiting", { n: shown.waiting })} />}
      {regrade.state !== "dropped" && (
        <Card
          title={lines.length === 0 ? t("nobodyMoves") : t(isApplied ? "moversDone" : "movers", { n: lines.length })}
        >
          {lines.length > 0 && <Lines rows={lines} />}
        </Card>
      )}
      {faults.length > 0 && (
        <Card title={t("faults")}>
          <DataList
            rows={faults}
            rowKey={(row) => row.submission}
            label={t("faults")}
            columns={[
              { key: "who", title: t("who"), render: (row) => row.name || row.login },
              { key: "why", title: t("whyMoves"), render: (row) => row.fault ?? wordOf(row.verdict) },
              {
                key: "attempt",
                title: t("attempt"),
                render: (row) => <Link to={`/attempts/${row.attempt}`}>{t("attempt")}</Link>,
              },
            ]}
          />
        </Card>
      )}
    </>
  );
}

function Lines({ rows }: { rows: Schemas["RegradeLine"][] }) {
  const t = useTexts(teachTexts);
  return (
    <DataList
      rows={rows}
      rowKey={(row) => `${row.login} ${row.lab}`}
      label={t("movers", { n: rows.length })}
      pagination={{ pageSize: 50, hideOnSinglePage: true }}
      columns={[
        { key: "who", title: t("who"), render: (row) => row.name || row.login },
        { key: "before", title: t("before"), render: (row) => (row.before === null ? "—" : plain(row.before)) },
        { key: "after", title: t("after"), render: (row) => plain(row.after) },
        {
          key: "moved",
          title: t("moved"),
          sorter: (a, b) => a.moved - b.moved,
          render: (row) => (
            <Typography.Text type={row.moved < 0 ? "danger" : "success"}>{signed(row.moved)}</Typography.Text>
          ),
        },
        {
          key: "why",
          title: t("whyMoves"),
          render: (row) => (
            <div style={{ whiteSpace: "normal", maxWidth: 480 }}>
              {row.changes.map((one) => (
                <div key={`${one.kind} ${one.title}`} style={{ overflowWrap: "anywhere" }}>
                  {one.title}: {change(one)}
                </div>
              ))}
              {row.override !== null && <Tag color="warning">{t("held", { n: plain(row.override) })}</Tag>}
              <Link to={`/attempts/${row.attempt}`}>{t("attempt")}</Link>
            </div>
          ),
        },
      ]}
    />
  );
}

function change(one: Schemas["CheckChange"]): string {
  const side = (words: string | null, points: number | null) => words ?? (points === null ? "—" : plain(points));
  return `${side(one.was, one.before)} → ${side(one.now, one.after)}`;
}
