import { expect, test } from "vitest";
import { memory, size } from "./tags";

test("a file's bytes are counted in thousands, as the server's limits are", () => {
  expect([size(0), size(999), size(1000), size(10_000_000), size(null)]).toEqual([
    "0 B",
    "999 B",
    "1 KB",
    "10 MB",
    "—",
  ]);
});

test("memory is counted as jobs ask for it", () => {
  expect([memory(16 << 20), memory(1 << 30), memory(80 * 2 ** 30)]).toEqual(["16 MiB", "1 GiB", "80 GiB"]);
  expect(memory(1023)).toBe("1023 B");
});
