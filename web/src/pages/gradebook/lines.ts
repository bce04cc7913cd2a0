import type { Schemas } from "@/api/client";

export type Line = Schemas["GradeLine"];
export type Cell = Schemas["GradeCell"];

export interface Choice {
  words: string;
  section: string | undefined;
  suspended: boolean;
}

/** The lines that fit; each word must be in name, number or login. */
export function chosen(lines: readonly Line[], choice: Choice): Line[] {
  const words = choice.words.toLowerCase().split(/\s+/).filter(Boolean);
  return lines.filter((line) => {
    if (!choice.suspended && !line.active) return false;
    if (choice.section !== undefined && line.section !== choice.section) return false;
    const told = `${line.name} ${line.student_number ?? ""} ${line.login}`.toLowerCase();
    return words.every((word) => told.includes(word));
  });
}

/** The sections there are, in order; none where nobody has one. */
export function sectionsOf(lines: readonly Line[]): string[] {
  return [...new Set(lines.map((line) => line.section).filter(Boolean))].sort((a, b) => a.localeCompare(b));
}

/** The mean of a lab over those with points; null where nobody has any. */
export function meanOf(lines: readonly Line[], lab: string): number | null {
  const points = lines.flatMap((line) => line.grades[lab]?.points ?? []);
  return points.length === 0 ? null : points.reduce((sum, one) => sum + one, 0) / points.length;
}

/** To sort by points: nothing comes before zero. */
export function rankOf(cell: Cell | undefined): number {
  return cell?.points ?? -1;
}
