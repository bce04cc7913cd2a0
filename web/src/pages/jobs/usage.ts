/** What a job used over time, as curves and in a sentence. */
import type { Schemas } from "@/api/client";
import type { Series } from "@/ui/Chart";

export type Sample = Schemas["UsageSample"];
type Measure = "cpu_percent" | "memory" | "card_percent" | "card_memory";

/** Points of one measure of one run; no line where it was never measured. */
export function lineOf(samples: readonly Sample[], measure: Measure, name: string, right = false): Series | null {
  const scale = measure === "memory" || measure === "card_memory" ? 1e9 : 1;
  const points = samples.map((one): [number, number | null] => {
    const value = one[measure];
    return [one.seconds, value === null ? null : value / scale];
  });
  return points.some(([, y]) => y !== null) ? { name, points, right } : null;
}

/** The samples of the newest run: an earlier one has its own time. */
export function ofLastRun(samples: readonly Sample[]): Sample[] {
  const last = Math.max(0, ...samples.map((one) => one.run));
  return samples.filter((one) => one.run === last);
}

export function mean(samples: readonly Sample[], measure: Measure): number | null {
  const values = samples.map((one) => one[measure]).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function most(samples: readonly Sample[], measure: Measure): number | null {
  const values = samples.map((one) => one[measure]).filter((value) => value !== null);
  return values.length === 0 ? null : Math.max(...values);
}

export interface Advice {
  key: "lazyCards" | "lazyCpu";
  values: Record<string, string | number>;
}

const LONG_ENOUGH = 6;

/** What could be asked for more wisely next time; nothing before there are a few looks. */
export function adviceOf(samples: readonly Sample[], job: { cpus: number; gpus: number }): Advice[] {
  if (samples.length < LONG_ENOUGH) return [];
  const found: Advice[] = [];
  const card = mean(samples, "card_percent");
  if (job.gpus > 0 && card !== null && card < 30) found.push({ key: "lazyCards", values: { n: Math.round(card) } });
  const cpu = mean(samples, "cpu_percent");
  if (job.gpus === 0 && cpu !== null && job.cpus >= 2 && cpu < job.cpus * 40)
    found.push({ key: "lazyCpu", values: { n: job.cpus, m: Number((cpu / 100).toFixed(1)) } });
  return found;
}
