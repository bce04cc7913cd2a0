/** What the menu offers to whom. */
import { isStaff, type Me } from "./me";
import type { appTexts } from "./texts";

export interface Entry {
  text: keyof typeof appTexts;
  to: string;
}

export interface Section {
  text?: keyof typeof appTexts;
  entries: Entry[];
}

/** Sections for `me` with `cohort` chosen. */
export function menuOf(me: Me, cohort: string | undefined): Section[] {
  const c = `/c/${cohort}`;
  const everybody: Entry[] = [{ text: "home", to: "/" }];
  if (cohort) everybody.push({ text: "labs", to: `${c}/labs` }, { text: "boards", to: `${c}/boards` });
  everybody.push({ text: "jobs", to: "/jobs" }, { text: "grades", to: "/grades" });
  const sections: Section[] = [{ entries: everybody }];
  if (cohort && isStaff(me, cohort))
    sections.push({
      text: "teach",
      entries: [
        { text: "firstSteps", to: `${c}/start` },
        { text: "people", to: `${c}/people` },
        { text: "groups", to: `${c}/groups` },
        { text: "teachLabs", to: `${c}/teach/labs` },
        { text: "submissions", to: `${c}/submissions` },
        { text: "gradebook", to: `${c}/grades` },
        { text: "inquiries", to: `${c}/inquiries` },
        { text: "nodes", to: "/nodes" },
        { text: "screen", to: `${c}/screen` },
        { text: "settings", to: `${c}/settings` },
      ],
    });
  if (me.is_admin)
    sections.push({
      text: "admin",
      entries: [
        { text: "cohorts", to: "/admin/cohorts" },
        { text: "audit", to: "/admin/audit" },
        // Staff of a cohort has them above.
        ...(cohort ? [] : [{ text: "nodes", to: "/nodes" } as const]),
      ],
    });
  sections.push({ entries: [{ text: "guide", to: "/guide/start" }] });
  return sections;
}
