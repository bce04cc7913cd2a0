import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Flex, Segmented, Tag, Typography } from "antd";
import { useState } from "react";
import { Link } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useCohort } from "@/app/cohort";
import { isStaff, useMe } from "@/app/me";
import { useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { type Column, DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { StateTag } from "@/ui/tags";
import { Asks } from "./Asks";
import { CancelJob, OPEN } from "./CancelJob";
import { nameOf } from "./nameOf";
import { Place } from "./Place";
import { jobTexts } from "./texts";

type Job = Schemas["Job"];

const STATES = {
  all: undefined,
  waiting: "PENDING",
  running: "RUNNING,UNKNOWN",
  ended: "COMPLETED,FAILED,TIMEOUT,OUT_OF_MEMORY,CANCELLED,PREEMPTED,NODE_FAIL",
} as const;
type Which = keyof typeof STATES;

export default function Jobs() {
  const t = useTexts(jobTexts);
  const me = useMe();
  const cohort = useCohort();
  const { language } = useLanguage();
  const queries = useQueryClient();
  const leads = cohort !== undefined && isStaff(me, cohort);
  const [which, setWhich] = useState<Which>("all");
  const [all, setAll] = useState(false);
  const everybody = leads && all;
  const found = useInfiniteQuery({
    queryKey: ["jobs", { everybody, which, cohort: everybody ? cohort : null, language }],
    queryFn: ({ pageParam }) =>
      body(
        api.GET("/api/jobs", {
          params: {
            query: {
              fold: true,
              everybody,
              state: STATES[which],
              cohort: everybody ? cohort : undefined,
              after: pageParam,
              limit: 30,
            },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    // Other people's jobs are not told of one by one.
    refetchInterval: everybody ? 10_000 : 60_000,
  });
  useLive(["me"], (event) => {
    if (event.kind === "job" || event.kind === "attempt") void queries.invalidateQueries({ queryKey: ["jobs"] });
  });
  const columns = useColumns(everybody);
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={t("jobs")}>
      <Typography.Text type="secondary">{t("lead")}</Typography.Text>
      <Flex wrap gap="small">
        <Segmented
          aria-label={t("which")}
          value={which}
          onChange={(value: Which) => setWhich(value)}
          options={(Object.keys(STATES) as Which[]).map((value) => ({ value, label: t(value) }))}
        />
        {leads && (
          <Segmented
            aria-label={t("whose")}
            value={all}
            onChange={(value: boolean) => setAll(value)}
            options={[
              { value: false, label: t("mine") },
              { value: true, label: t("everybody") },
            ]}
          />
        )}
      </Flex>
      {found.isError ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : (
        <DataList
          rows={rows}
          rowKey={(job) => job.id}
          label={t("jobs")}
          loading={found.isPending}
          empty={<Typography.Text type="secondary">{which === "all" ? t("noneHint") : t("none")}</Typography.Text>}
          columns={columns}
        />
      )}
      {found.hasNextPage && (
        <Button loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t("more")}
        </Button>
      )}
    </Page>
  );
}

function useColumns(everybody: boolean): Column<Job>[] {
  const t = useTexts(jobTexts);
  const { language } = useLanguage();
  const columns: Column<Job>[] = [
    {
      key: "name",
      title: t("name"),
      render: (job) => (
        <Flex vertical>
          <Link to={`/jobs/${job.id}`}>{nameOf(job, language)}</Link>
          {job.kind !== "run" && (
            <Typography.Text type="secondary">{t(job.kind as "grade" | "reference")}</Typography.Text>
          )}
        </Flex>
      ),
    },
    { key: "state", title: t("state"), render: (job) => <States job={job} /> },
    {
      key: "why",
      title: t("why"),
      render: (job) => (
        <div style={{ maxWidth: "48ch", whiteSpace: "normal" }}>
          <Place job={job} />
        </div>
      ),
    },
    { key: "asks", title: t("asks"), render: (job) => <Asks job={job} /> },
    { key: "queued", title: t("queued"), render: (job) => <Moment at={job.queued_at} /> },
    {
      key: "cancel",
      title: t("act"),
      render: (job) => (job.kind === "run" || everybody ? <CancelJob job={job} whole={isArrayOpen(job)} /> : null),
    },
  ];
  if (everybody) columns.splice(1, 0, { key: "person", title: t("person"), render: (job) => job.person ?? "—" });
  return columns;
}

/** A line of an array stands for all of its jobs. */
function isArrayOpen(job: Job): boolean {
  return Object.entries(job.array_states ?? {}).some(([state, count]) => count > 0 && OPEN.has(state));
}

/** The state of a job; of an array how many of its jobs are in which. */
function States({ job }: { job: Job }) {
  if (!job.array_states) return <StateTag state={job.state} />;
  return (
    <Flex wrap gap={4}>
      {Object.entries(job.array_states).map(([state, count]) => (
        <span key={state}>
          <StateTag state={state} />
          <Tag>{count}</Tag>
        </span>
      ))}
    </Flex>
  );
}
