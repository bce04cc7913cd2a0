import { Typography } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { memory, plain, StateTag } from "@/ui/tags";
import { nodeTexts } from "./texts";

type Job = Schemas["NodeJob"];

/** What runs on a node, and what each of it really uses. */
export function NodeJobs({ jobs }: { jobs: Job[] }) {
  const t = useTexts(nodeTexts);
  return (
    <DataList
      rows={jobs}
      rowKey={(job) => job.id ?? `${job.started_at}:${job.cores.join(",")}:${job.cards.join(",")}`}
      label={t("jobs")}
      empty={<Typography.Text type="secondary">{t("nothing")}</Typography.Text>}
      columns={[
        { key: "person", title: t("person"), render: (job) => job.person ?? t("other") },
        {
          key: "job",
          title: t("job"),
          render: (job) => (job.id ? <Link to={`/jobs/${job.id}`}>{job.name || job.id}</Link> : "—"),
        },
        { key: "kind", title: t("kind"), render: (job) => t(job.kind as "run" | "grade" | "reference") },
        { key: "state", title: t("state"), render: (job) => <StateTag state={job.state} /> },
        { key: "holds", title: t("holds"), render: (job) => <Holds job={job} /> },
        { key: "uses", title: t("uses"), render: (job) => <Uses job={job} /> },
        { key: "started", title: t("started"), render: (job) => <Moment at={job.started_at} countdown /> },
      ]}
    />
  );
}

function Holds({ job }: { job: Job }) {
  const t = useTexts(nodeTexts);
  const parts = [
    job.cards.length > 0 ? t("cardsHeld", { list: job.cards.join(", ") }) : null,
    job.cores.length > 0 ? t("coresHeld", { n: job.cores.length }) : null,
    memory(job.memory_limit),
  ];
  return <span>{parts.filter(Boolean).join(" · ")}</span>;
}

function Uses({ job }: { job: Job }) {
  const t = useTexts(nodeTexts);
  const parts = [
    job.card_percent === null ? null : t("usesCard", { n: plain(job.card_percent, 0) }),
    job.cpu_percent === null ? null : t("usesCpu", { n: plain(job.cpu_percent, 0) }),
    job.memory === null ? null : t("usesMemory", { n: memory(job.memory) }),
  ].filter(Boolean);
  return <span>{parts.length > 0 ? parts.join(" · ") : t("notMeasured")}</span>;
}
