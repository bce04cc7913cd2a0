import { expect, it } from "vitest";
import { stageName } from "./stageName";

it("says what people call a stage, and leaves an unknown one as it is", () => {
  expect(stageName("train", "zh")).toBe("训练");
  expect(stageName("train-2", "en")).toBe("training-2");
  expect(stageName("warm-up", "zh")).toBe("warm-up");
});
