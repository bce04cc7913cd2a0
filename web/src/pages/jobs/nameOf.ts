import type { Schemas } from "@/api/client";
import type { Language } from "@/i18n";
import { stageName } from "@/pages/submissions/stageName";

/** What a job is called: its own name, or that of the stage of a grading. */
export function nameOf(job: Pick<Schemas["Job"], "id" | "name" | "kind">, language: Language): string {
  if (!job.name) return job.id;
  return job.kind === "run" ? job.name : stageName(job.name, language);
}
