/** Which labs to show on the first page. */
import type { Schemas } from "@/api/client";

type Lab = Schemas["Lab"];

const DAY = 86_400_000;
/** A lab stays for a while after its date: a late hand-in may still be taken. */
const AFTER = 2 * DAY;
const MOST = 6;

export const dueOf = (lab: Lab): string | null => lab.mine?.due_at ?? lab.due_at;

/** Labs that are open or open soon, the one due first at the top; those without a date last. */
export function soon(labs: readonly Lab[], now: number): Lab[] {
  const when = (lab: Lab) => {
    const due = dueOf(lab);
    return due === null ? Number.POSITIVE_INFINITY : Date.parse(due);
  };
  return labs
    .filter((lab) => when(lab) > now - AFTER)
    .sort((a, b) => when(a) - when(b) || a.slug.localeCompare(b.slug))
    .slice(0, MOST);
}
