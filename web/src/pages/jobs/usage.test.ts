import { describe, expect, it } from "vitest";
import { adviceOf, lineOf, mean, most, ofLastRun, type Sample } from "./usage";

const sample = (seconds: number, fields: Partial<Sample> = {}): Sample => ({
  run: 1,
  at: "2026-12-01T10:00:00Z",
  seconds,
  cpu_percent: null,
  memory: null,
  card_percent: null,
  card_memory: null,
  ...fields,
});

describe("what a job used", () => {
  it("is a line with gaps, in units that people read", () => {
    const samples = [sample(0, { memory: 2e9 }), sample(10), sample(20, { memory: 3e9 })];
    expect(lineOf(samples, "memory", "m", true)).toEqual({
      name: "m",
      right: true,
      points: [
        [0, 2],
        [10, null],
        [20, 3],
      ],
    });
    expect(lineOf(samples, "card_percent", "c")).toBeNull();
  });

  it("is that of the newest run", () => {
    const samples = [sample(0), sample(5, { run: 2 }), sample(6, { run: 2 })];
    expect(ofLastRun(samples).map((one) => one.seconds)).toEqual([5, 6]);
    expect(ofLastRun([])).toEqual([]);
  });

  it("counts what was measured alone", () => {
    const samples = [sample(0, { cpu_percent: 100 }), sample(1), sample(2, { cpu_percent: 50 })];
    expect(mean(samples, "cpu_percent")).toBe(75);
    expect(most(samples, "cpu_percent")).toBe(100);
    expect(mean(samples, "card_percent")).toBeNull();
  });

  it("leads to advice only when something was idle for a while", () => {
    const many = (fields: Partial<Sample>) => Array.from({ length: 8 }, (_, n) => sample(n, fields));
    expect(adviceOf(many({ card_percent: 12.4 }), { cpus: 4, gpus: 1 })).toEqual([
      { key: "lazyCards", values: { n: 12 } },
    ]);
    expect(adviceOf(many({ card_percent: 95 }), { cpus: 4, gpus: 1 })).toEqual([]);
    expect(adviceOf(many({ cpu_percent: 100 }), { cpus: 4, gpus: 0 })).toEqual([
      { key: "lazyCpu", values: { n: 4, m: 1 } },
    ]);
    expect(adviceOf(many({ cpu_percent: 390 }), { cpus: 4, gpus: 0 })).toEqual([]);
    expect(adviceOf([sample(0, { card_percent: 0 })], { cpus: 1, gpus: 1 })).toEqual([]);
  });
});
