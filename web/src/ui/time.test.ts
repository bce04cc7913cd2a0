import { expect, it } from "vitest";
import { localTime, span } from "./time";

it("shows local time with its offset, also across a change of the clock", () => {
  expect(localTime("2026-12-01T10:00:00Z", "Asia/Shanghai")).toBe("2026-12-01 18:00 (UTC+8)");
  expect(localTime("2026-03-08T06:59:00Z", "America/Detroit")).toBe("2026-03-08 01:59 (UTC-5)");
  expect(localTime("2026-03-08T07:01:00Z", "America/Detroit")).toBe("2026-03-08 03:01 (UTC-4)");
  expect(localTime("2026-03-08T00:00:00Z", "UTC")).toBe("2026-03-08 00:00 (UTC+0)");
});

it("names the two largest units of a length of time", () => {
  expect(span(90_000, "en")).toBe("1 d 1 h");
  expect(span(-61, "zh")).toBe("1 分 1 秒");
  expect(span(0, "en")).toBe("0 s");
});
