import { useQuery } from "@tanstack/react-query";
import { api, body, type Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { jobTexts } from "./texts";

/** Where a job waits and why; of one that has ended, why it did. */
export function Place({ job }: { job: Schemas["Job"] }) {
  const t = useTexts(jobTexts);
  const { language } = useLanguage();
  const isWaiting = job.state === "PENDING";
  const queue = useQuery({
    queryKey: ["job", job.id, "queue", language],
    queryFn: () => body(api.GET("/api/jobs/{job_id}/queue", { params: { path: { job_id: job.id } } })),
    enabled: isWaiting && job.mine,
    refetchInterval: 10_000,
  });
  const found = isWaiting ? (queue.data ?? job.queue) : null;
  if (!found) return <span>{job.reason_text ?? "—"}</span>;
  const at = found.position === null ? "" : t("place", { n: found.position, m: found.ahead ?? 0 });
  return <span>{found.sentence || at || job.reason_text || "—"}</span>;
}
