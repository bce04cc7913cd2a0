import { expect, test } from "vitest";
import { stepsOf } from "./turn";

test("each board has a turn of its own, in its place among the scenes", () => {
  expect(stepsOf(["queue", "board", "top"], 2)).toEqual([
    { scene: "queue" },
    { scene: "board", board: 0 },
    { scene: "board", board: 1 },
    { scene: "top" },
  ]);
});

test("without a board its scene says so", () => {
  expect(stepsOf(["board"], 0)).toEqual([{ scene: "board" }]);
});
