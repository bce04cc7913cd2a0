import { expect, it } from "vitest";
import { safeNext } from "./next";

const OURS = "https://qianka.example";

it("leads back to where one came from", () => {
  expect(safeNext("/c/ai/labs/lab1?tab=2#top", OURS)).toBe("/c/ai/labs/lab1?tab=2#top");
});

it.each([
  null,
  "",
  "https://evil.example/",
  "//evil.example",
  "/\\evil.example",
  "/\t/evil.example",
  "javascript:alert(1)",
  "/login?next=/x",
  "/.//evil.example",
])("never leads elsewhere: %j", (next) => {
  expect(safeNext(next, OURS)).toBe("/");
});
