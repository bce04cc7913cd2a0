import { expect, test } from "vitest";
import { boardToml } from "./boardToml";

const RULES = {
  title: '猜 "类别"',
  metric: "accuracy",
  header: ["id", "label"],
  share: 0.3,
  aDay: 5,
  selections: 2,
  ladder: true,
};

test("what a teacher typed cannot leave its string", () => {
  const toml = boardToml({ ...RULES, title: 'x"\nladder = false\n[limits]' });
  expect(toml.split("\n").filter((line) => line.startsWith("ladder"))).toEqual(["ladder = true"]);
  expect(boardToml(RULES)).toContain('title = "猜 \\"类别\\""');
});

test("a column Usage decides the split, else the share does", () => {
  expect(boardToml(RULES)).toContain("public = 0.3");
  const usage = boardToml({ ...RULES, header: ["编号", "价格", "Usage"] });
  expect(usage).toContain('with = "usage"');
  expect(usage).toContain('column = "价格"');
  expect(usage).not.toContain("public = ");
});
