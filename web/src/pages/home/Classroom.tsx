import { useQuery } from "@tanstack/react-query";
import { Flex } from "antd";
import { Link } from "react-router";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Box, Lines } from "./Box";
import { homeTexts } from "./texts";

const MOST = 100;
const EVERY = 30_000;

/** A cohort as its staff wants to know of it at a glance. */
export function Classroom({ cohort, title }: { cohort: string; title: string }) {
  const t = useTexts(homeTexts);
  const path = { cohort };
  const inquiries = useQuery({
    queryKey: ["inquiries", cohort, "open", "count"],
    queryFn: () =>
      body(api.GET("/api/cohorts/{cohort}/inquiries", { params: { path, query: { state: "open", limit: MOST } } })),
  });
  const jobs = useQuery({
    queryKey: ["jobs", "class", cohort],
    queryFn: () =>
      body(
        api.GET("/api/jobs", {
          params: { query: { cohort, everybody: true, state: "PENDING,RUNNING,UNKNOWN", limit: MOST } },
        }),
      ),
    refetchInterval: EVERY,
  });
  const steps = useQuery({
    queryKey: ["checklist", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/checklist", { params: { path } })),
  });
  useLive([`staff:${cohort}`], (event) => {
    if (event.kind === "inquiry") void inquiries.refetch();
    if (event.kind === "submission") void jobs.refetch();
  });
  const count = (n: number | undefined) => (n === undefined ? "…" : n >= MOST ? t("atLeast", { n: MOST }) : String(n));
  const graded = jobs.data?.items.filter((job) => job.kind === "grade");
  const own = jobs.data?.items.filter((job) => job.kind === "run");
  const left = steps.data?.filter((step) => step.state === "todo").length;
  const lines = [
    { to: `/c/${cohort}/inquiries`, text: t("openInquiries"), figure: count(inquiries.data?.items.length) },
    { to: `/c/${cohort}/submissions`, text: t("grading"), figure: count(graded?.length) },
    { to: "/jobs", text: t("ownJobs"), figure: count(own?.length) },
    {
      to: `/c/${cohort}/start`,
      text: t("setUp"),
      figure: left === undefined ? "…" : left === 0 ? t("ready") : t("toDo", { n: left }),
    },
  ];
  return (
    <Box title={`${t("class")} · ${title}`} to="/nodes" all={t("machines")}>
      <Lines label={t("class")}>
        {lines.map((line) => (
          <li key={line.to}>
            <Flex justify="space-between" gap="small">
              <Link to={line.to}>{line.text}</Link>
              <strong>{line.figure}</strong>
            </Flex>
          </li>
        ))}
      </Lines>
    </Box>
  );
}
