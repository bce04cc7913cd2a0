import type { Schemas } from "@/api/client";
import type { Say } from "@/i18n";
import { plain } from "@/ui/tags";
import type { gradeTexts } from "./texts";

type Decided = Pick<
  Schemas["Grade"],
  | "raw_points"
  | "penalty"
  | "days_late"
  | "late_days"
  | "override"
  | "override_reason"
  | "bonus"
  | "bonus_reason"
  | "comment"
>;

/** A number with its sign. */
export function signed(value: number): string {
  return value < 0 ? `−${plain(-value)}` : `+${plain(value)}`;
}

/** How the points of a grade came about, a sentence for each reason; nothing where they are as graded. */
export function howOf(grade: Decided, t: Say<typeof gradeTexts>): string[] {
  const told: string[] = [];
  const moved = grade.penalty > 0 || grade.override !== null || grade.bonus !== null;
  if (moved && grade.raw_points !== null) told.push(t("raw", { n: plain(grade.raw_points) }));
  if (grade.penalty > 0) told.push(t("penalty", { d: grade.days_late, n: plain(grade.penalty) }));
  if (grade.late_days > 0) told.push(t("lateDays", { d: grade.late_days }));
  if (grade.override !== null) told.push(t("override", { n: plain(grade.override), why: grade.override_reason ?? "" }));
  if (grade.bonus !== null) told.push(t("bonus", { n: signed(grade.bonus), why: grade.bonus_reason ?? "" }));
  if (grade.comment) told.push(t("comment", { text: grade.comment }));
  return told;
}
