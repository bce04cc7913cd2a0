import { expect, it } from "vitest";
import { curvesOf } from "./curves";

it("makes a curve of each figure, with a gap where it was not finite", () => {
  const lines = [
    { step: 0, time: 0.1, loss: 2, accuracy: 0.1, note: "x" },
    { step: 10, time: 0.2, loss: null, accuracy: 0.5 },
    { step: 20, time: 0.3, loss: 1, accuracy: 0.7 },
  ];
  expect(curvesOf(lines)).toEqual([
    {
      name: "loss",
      points: [
        [0, 2],
        [10, null],
        [20, 1],
      ],
      right: false,
    },
    {
      name: "accuracy",
      points: [
        [0, 0.1],
        [10, 0.5],
        [20, 0.7],
      ],
      right: true,
    },
  ]);
});

it("draws no curve of a single point", () => {
  expect(curvesOf([{ step: 1, loss: 1 }])).toEqual([]);
});
