import { describe, expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { dueOf, soon } from "./deadlines";

type Lab = Schemas["Lab"];

const NOW = Date.parse("2026-12-01T00:00:00Z");
const lab = (slug: string, due: string | null, mine?: string): Lab =>
  ({ slug, due_at: due, mine: mine ? { due_at: mine } : null }) as unknown as Lab;

describe("labs of the first page", () => {
  it("stand in the order in which they are due, those without a date last", () => {
    const labs = [lab("z", null), lab("late", "2026-12-09T00:00:00Z"), lab("next", "2026-12-02T00:00:00Z")];
    expect(soon(labs, NOW).map((one) => one.slug)).toEqual(["next", "late", "z"]);
  });

  it("go by one's own date, and leave a while after it", () => {
    const extended = lab("mine", "2026-11-20T00:00:00Z", "2026-12-03T00:00:00Z");
    expect(dueOf(extended)).toBe("2026-12-03T00:00:00Z");
    const labs = [extended, lab("yesterday", "2026-11-30T00:00:00Z"), lab("long ago", "2026-11-20T00:00:00Z")];
    expect(soon(labs, NOW).map((one) => one.slug)).toEqual(["yesterday", "mine"]);
  });

  it("are few", () => {
    const labs = Array.from({ length: 16 }, (_, n) => lab(`lab${n}`, "2026-12-05T00:00:00Z"));
    expect(soon(labs, NOW)).toHaveLength(6);
  });
});
