import type { Series } from "@/ui/Chart";

const TIMES = new Set(["step", "time", "epoch"]);

/** Lines of metrics.jsonl as curves over the step: losses at the left, what lies between 0 and 1 at the right. */
export function curvesOf(lines: readonly Record<string, unknown>[]): Series[] {
  const found = new Map<string, [number, number | null][]>();
  lines.forEach((line, index) => {
    const step = typeof line.step === "number" ? line.step : index;
    for (const [name, value] of Object.entries(line)) {
      if (TIMES.has(name) || (typeof value !== "number" && value !== null)) continue;
      const points = found.get(name) ?? [];
      points.push([step, value as number | null]);
      found.set(name, points);
    }
  });
  return [...found]
    .filter(([, points]) => points.filter(([, y]) => y !== null).length > 1)
    .map(([name, points]) => ({ name, points, right: /acc|f1|auc|precision|recall|iou/i.test(name) }));
}
