import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { memory, plain } from "@/ui/tags";
import { jobTexts } from "./texts";

/** What a job asks for: cores, memory, cards, on how many nodes. */
export function Asks({ job }: { job: Schemas["Job"] }) {
  const t = useTexts(jobTexts);
  const parts = [
    job.gpus > 0 ? t("cards", { n: job.gpus }) : null,
    t("cpus", { n: plain(job.cpus) }),
    memory(job.memory),
    job.nodes > 1 ? t("onNodes", { n: job.nodes }) : null,
    job.exclusive ? t("whole") : null,
  ];
  return <span>{parts.filter(Boolean).join(" · ")}</span>;
}
