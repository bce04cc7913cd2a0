import { describe, expect, it } from "vitest";
import { fromLocal, toLocal } from "./zoned";

describe("a local time of the class", () => {
  it.each([
    ["Asia/Shanghai", "2026-12-20T23:59", "2026-12-20T15:59:00.000Z"],
    ["UTC", "2026-12-20T23:59", "2026-12-20T23:59:00.000Z"],
    ["America/New_York", "2026-07-01T09:00", "2026-07-01T13:00:00.000Z"],
    ["America/New_York", "2026-12-01T09:00", "2026-12-01T14:00:00.000Z"],
    ["Asia/Kathmandu", "2026-01-01T00:00", "2025-12-31T18:15:00.000Z"],
    ["Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00.000Z"],
    ["Europe/Berlin", "2026-10-25T03:30", "2026-10-25T02:30:00.000Z"],
  ])("in %s, %s is %s, and back", (zone, local, instant) => {
    expect(fromLocal(local, zone)).toBe(instant);
    expect(toLocal(instant, zone)).toBe(local);
  });

  it("that a clock leaps over is an hour away at most", () => {
    const at = Date.parse(fromLocal("2026-03-29T02:30", "Europe/Berlin") ?? "");
    expect(Math.abs(at - Date.parse("2026-03-29T01:00:00Z"))).toBeLessThanOrEqual(3_600_000);
  });

  it("that is none has no instant", () => {
    for (const wrong of ["", "tomorrow", "2026-13-40T99:99"]) expect(fromLocal(wrong, "UTC")).toBeNull();
    expect(toLocal(null, "UTC")).toBe("");
  });
});
