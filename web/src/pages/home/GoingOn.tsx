import { useQuery } from "@tanstack/react-query";
import { Flex } from "antd";
import { Link } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { nameOf } from "@/pages/jobs/nameOf";
import { Place } from "@/pages/jobs/Place";
import { Answer } from "@/ui/Answer";
import { Moment } from "@/ui/Moment";
import { StateTag } from "@/ui/tags";
import { Box, Lines } from "./Box";
import { homeTexts } from "./texts";

/** One's jobs and gradings that wait or run. */
export function GoingOn() {
  const t = useTexts(homeTexts);
  const { language } = useLanguage();
  const jobs = useQuery({
    queryKey: ["jobs", "open", language],
    queryFn: () =>
      body(api.GET("/api/jobs", { params: { query: { state: "PENDING,RUNNING,UNKNOWN", fold: true, limit: 6 } } })),
  });
  useLive(["me"], (event) => {
    if (event.kind === "job" || event.kind === "attempt") void jobs.refetch();
  });
  return (
    <Box title={t("jobs")} to="/jobs" all={t("allJobs")}>
      <Answer of={jobs} empty={t("noJobs")} isEmpty={(page) => page.items.length === 0}>
        {(page) => (
          <Lines label={t("jobs")}>
            {page.items.map((job) => (
              <li key={job.id}>
                <Line job={job} />
              </li>
            ))}
          </Lines>
        )}
      </Answer>
    </Box>
  );
}

function Line({ job }: { job: Schemas["Job"] }) {
  const { language } = useLanguage();
  return (
    <>
      <Flex gap="small" wrap align="center">
        <Link to={job.attempt ? `/attempts/${job.attempt}` : `/jobs/${job.id}`}>{nameOf(job, language)}</Link>
        <StateTag state={job.state} />
      </Flex>
      {job.state === "PENDING" ? <Place job={job} /> : <Moment at={job.started_at} countdown />}
    </>
  );
}
