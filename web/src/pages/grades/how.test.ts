import { describe, expect, it } from "vitest";
import { say } from "@/i18n";
import { howOf, signed } from "./how";
import { gradeTexts } from "./texts";

const t: Parameters<typeof howOf>[1] = (key, values) => say(gradeTexts[key], "en", values);
const graded = {
  raw_points: 80,
  penalty: 0,
  days_late: 0,
  late_days: 0,
  override: null,
  override_reason: null,
  bonus: null,
  bonus_reason: null,
  comment: null,
};

describe("how a grade came about", () => {
  it("says nothing where the points are as graded", () => {
    expect(howOf(graded, t)).toEqual([]);
  });

  it("tells of penalty, override and bonus, from what was graded on", () => {
    expect(
      howOf(
        {
          ...graded,
          penalty: 8,
          days_late: 2,
          override: 0,
          override_reason: "copied",
          bonus: -2.5,
          bonus_reason: "late talk",
        },
        t,
      ),
    ).toEqual(["graded 80", "2 days late: −8", "set to 0: copied", "bonus −2.5: late talk"]);
  });

  it("tells of a comment alone, where nothing was graded", () => {
    expect(howOf({ ...graded, raw_points: null, comment: "ill" }, t)).toEqual(["comment: ill"]);
  });

  it("fills a reason in as it is, whatever stands in it", () => {
    expect(howOf({ ...graded, raw_points: null, bonus: 1, bonus_reason: "{n} $& {why}" }, t)).toEqual([
      "bonus +1: {n} $& {why}",
    ]);
  });
});

describe("a sign", () => {
  it.each([
    [1, "+1"],
    [-0.125, "−0.13"],
    [2.5, "+2.5"],
  ])("%d is %s", (value, shown) => expect(signed(value)).toBe(shown));
});
