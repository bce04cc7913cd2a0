import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Col, Flex, Row } from "antd";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { StateTag } from "@/ui/tags";
import { ArrayJobs } from "./ArrayJobs";
import { CancelJob, OPEN } from "./CancelJob";
import { JobCurve } from "./JobCurve";
import { JobFacts } from "./JobFacts";
import { JobOutput } from "./JobOutput";
import { nameOf } from "./nameOf";
import { jobTexts } from "./texts";
import { UsageCurves } from "./UsageCurves";

type Job = Schemas["Job"];

/** One job: where it stands, what it prints, how it learns and what it uses. */
export default function JobPage() {
  const { job = "" } = useParams();
  const { language } = useLanguage();
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["job", job, language],
    queryFn: () => body(api.GET("/api/jobs/{job_id}", { params: { path: { job_id: job } } })),
    // The place in the queue changes with what others do.
    refetchInterval: ({ state }) => (state.data?.state === "PENDING" ? 10_000 : false),
  });
  useLive([`job:${job}`], () => void queries.invalidateQueries({ queryKey: ["job", job] }));
  return <Answer of={found}>{(shown) => <Shown key={shown.id} job={shown} />}</Answer>;
}

function Shown({ job }: { job: Job }) {
  const t = useTexts(jobTexts);
  const { language } = useLanguage();
  const going = job.state === "RUNNING" || job.state === "UNKNOWN";
  return (
    <Page
      title={nameOf(job, language)}
      above={
        <>
          <Link to="/jobs">{t("jobs")}</Link> · {job.id}
        </>
      }
      extra={<CancelJob job={job} />}
    >
      <Standing job={job} />
      <Row gutter={[16, 16]}>
        <Col xs={24} xl={12}>
          <JobCurve job={job.id} going={going} />
        </Col>
        <Col xs={24} xl={12}>
          <UsageCurves job={job} going={going} />
        </Col>
      </Row>
      <JobOutput job={job} />
      <JobFacts job={job} />
      {job.array && <ArrayJobs id={job.array} job={job} />}
    </Page>
  );
}

const ALERTS: Record<string, "info" | "success" | "warning"> = {
  PENDING: "info",
  RUNNING: "info",
  COMPLETED: "success",
  CANCELLED: "warning",
  PREEMPTED: "warning",
  NODE_FAIL: "warning",
  UNKNOWN: "warning",
};

function Standing({ job }: { job: Job }) {
  const t = useTexts(jobTexts);
  const told = job.queue?.sentence || job.reason_text;
  const begun = job.started_at ?? undefined;
  return (
    <Alert
      role="status"
      type={ALERTS[job.state] ?? "error"}
      data-testid="job"
      data-state={job.state}
      title={
        <Flex gap="small" align="center" wrap>
          <StateTag state={job.state} />
          {told && <span style={{ overflowWrap: "anywhere" }}>{told}</span>}
          {job.state === "RUNNING" && begun && (
            <span>
              {t("started")} <Moment at={begun} countdown />
            </span>
          )}
          {job.answered_at && (
            <span>
              {t("unknownSince")} <Moment at={job.answered_at} countdown />
            </span>
          )}
          {job.state === "PENDING" && <Link to="/guide/cards">{t("getCards")}</Link>}
          {!OPEN.has(job.state) && job.state !== "COMPLETED" && job.state !== "CANCELLED" && (
            <Link to="/guide/debug">{t("inGuide")}</Link>
          )}
        </Flex>
      }
    />
  );
}
