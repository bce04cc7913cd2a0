import type { Schemas } from "@/api/client";

/** Whether the dates of a lab let its caller hand in no more at `now` (milliseconds); the server decides, this tells early. */
export function isClosed(lab: Pick<Schemas["Lab"], "mine" | "due_at" | "locks_at" | "late">, now: number): boolean {
  const { mine } = lab;
  const locks = mine?.locks_at ?? lab.locks_at;
  if (locks && now >= Date.parse(locks)) return true;
  const due = mine?.due_at ?? lab.due_at;
  if (!due || (mine?.late ?? lab.late) !== "refuse") return false;
  return now > Date.parse(due) + (mine?.grace_seconds ?? 0) * 1000;
}
