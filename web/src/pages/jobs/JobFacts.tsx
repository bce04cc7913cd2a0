import { Card, Descriptions, type DescriptionsProps } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { CopyText } from "@/ui/CopyText";
import { Moment } from "@/ui/Moment";
import { memory, plain } from "@/ui/tags";
import { span } from "@/ui/time";
import { Asks } from "./Asks";
import { jobTexts } from "./texts";

/** The figures of a job: what it asked for, and, once it has ended, what it used. */
export function JobFacts({ job }: { job: Schemas["Job"] }) {
  const t = useTexts(jobTexts);
  const { language } = useLanguage();
  const long = (seconds: number) => (seconds < 60 ? `${plain(seconds, 1)} s` : span(seconds, language));
  const items: DescriptionsProps["items"] = [
    { key: "asks", label: t("asks"), children: <Asks job={job} /> },
    { key: "limit", label: t("limit"), children: long(job.wall_limit) },
    { key: "label", label: t("label"), children: t(job.label as "urgent" | "normal" | "idle") },
    { key: "kind", label: t("kind"), children: t(job.kind as "run" | "grade" | "reference") },
    { key: "queued", label: t("queued"), children: <Moment at={job.queued_at} /> },
  ];
  const add = (key: keyof typeof jobTexts, children: React.ReactNode) => items.push({ key, label: t(key), children });
  if (job.started_at) add("started", <Moment at={job.started_at} />);
  if (job.ended_at) add("endedAt", <Moment at={job.ended_at} />);
  if (job.wall !== null) add("took", long(job.wall));
  if (job.cpu !== null) add("cpuTime", long(job.cpu));
  if (job.peak_memory !== null) add("peak", t("ofLimit", { used: memory(job.peak_memory), limit: memory(job.memory) }));
  if (job.exit_code !== null) add("exit", job.exit_code);
  if (job.node) add("node", job.node);
  if (job.isolation) add("isolation", job.isolation);
  add("charge", t(job.charged ? "charged" : "free"));
  if (job.attempt) add("attempt", <Link to={`/attempts/${job.attempt}`}>{job.attempt}</Link>);
  if (job.argv.length > 0) add("command", <CopyText text={job.argv.join(" ")} />);
  return (
    <Card size="small" title={t("facts")}>
      <Descriptions size="small" column={{ xs: 1, md: 2, xl: 3 }} items={items} />
    </Card>
  );
}
