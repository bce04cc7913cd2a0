import { expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { isClosed } from "./closed";

const DUE = "2026-12-01T10:00:00Z";
const at = (minutes: number) => Date.parse(DUE) + minutes * 60_000;
const mine = (changes: Partial<Schemas["MyDates"]>) =>
  ({ due_at: DUE, late: "mark", grace_seconds: 0, ...changes }) as Schemas["MyDates"];

it("stays open after the due date where late work is taken", () => {
  expect(isClosed({ mine: mine({}), due_at: DUE, locks_at: null, late: "mark" }, at(60))).toBe(false);
});

it("closes after the grace where late work is refused", () => {
  const lab = { mine: mine({ late: "refuse", grace_seconds: 300 }), due_at: DUE, locks_at: null, late: "refuse" };
  expect(isClosed(lab, at(4))).toBe(false);
  expect(isClosed(lab, at(6))).toBe(true);
});

it("goes by one's own dates, and closes for everybody where it is locked", () => {
  const extended = mine({ late: "refuse", due_at: "2026-12-03T10:00:00Z" });
  expect(isClosed({ mine: extended, due_at: DUE, locks_at: null, late: "refuse" }, at(60))).toBe(false);
  expect(isClosed({ mine: mine({ locks_at: DUE }), due_at: DUE, locks_at: null, late: "mark" }, at(0))).toBe(true);
});

it("never closes without dates", () => {
  expect(isClosed({ mine: null, due_at: null, locks_at: null, late: "refuse" }, at(0))).toBe(false);
});
