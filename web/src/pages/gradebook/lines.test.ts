import { describe, expect, it } from "vitest";
import { type Cell, chosen, type Line, meanOf, rankOf, sectionsOf } from "./lines";

const cell = (points: number | null): Cell => ({ points }) as Cell;
const line = (login: string, fields: Partial<Line> = {}): Line => ({
  login,
  student_number: null,
  name: login,
  section: "",
  active: true,
  grades: {},
  total: 0,
  ...fields,
});

const anybody = { words: "", section: undefined, suspended: false };
const lines = [
  line("u2026001", { name: "张三", student_number: "0042", section: "2 班", grades: { lab1: cell(80) } }),
  line("amy", { name: "Amy Li", section: "1 班", grades: { lab1: cell(0), lab2: cell(null) } }),
  line("gone", { active: false, grades: { lab1: cell(10) } }),
];

describe("the lines of a grade book", () => {
  it.each([
    ["", ["u2026001", "amy"]],
    ["张", ["u2026001"]],
    ["0042", ["u2026001"]],
    ["LI amy", ["amy"]],
    ["amy 0042", []],
  ])("by the words %j are %j", (words, logins) => {
    expect(chosen(lines, { ...anybody, words }).map((one) => one.login)).toEqual(logins);
  });

  it("leave out who is suspended, unless asked for", () => {
    expect(chosen(lines, { ...anybody, suspended: true })).toHaveLength(3);
  });

  it("are of one section", () => {
    expect(sectionsOf(lines)).toEqual(["1 班", "2 班"]);
    expect(chosen(lines, { ...anybody, section: "1 班" }).map((one) => one.login)).toEqual(["amy"]);
  });
});

describe("the mean of a lab", () => {
  it("counts a zero, and leaves out who has nothing", () => {
    expect(meanOf(chosen(lines, anybody), "lab1")).toBe(40);
    expect(meanOf(lines, "lab2")).toBeNull();
    expect(meanOf(lines, "lab3")).toBeNull();
  });
});

it("sorts nothing before zero", () => {
  expect(rankOf(undefined)).toBeLessThan(rankOf(cell(0)));
  expect(rankOf(cell(null))).toBeLessThan(rankOf(cell(0)));
});
