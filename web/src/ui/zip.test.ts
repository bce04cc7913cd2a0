import { describe, expect, it } from "vitest";
import { crc32, placeOf, zipOf } from "./zip";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a zip made in the browser", () => {
  it("has the checksum of the standard", () => expect(crc32(bytes("123456789"))).toBe(0xcbf43926));

  it("lists each file with its size, at the place where it lies", () => {
    const zip = zipOf([
      { path: "lab.toml", data: bytes("title") },
      { path: "讲义/README.md", data: bytes("") },
    ]);
    const view = new DataView(zip.buffer);
    const end = view.byteLength - 22;
    expect(view.getUint32(end, true)).toBe(0x06054b50);
    expect(view.getUint16(end + 10, true)).toBe(2);
    let at = view.getUint32(end + 16, true);
    const names: string[] = [];
    for (let n = 0; n < 2; n++) {
      expect(view.getUint32(at, true)).toBe(0x02014b50);
      const length = view.getUint16(at + 28, true);
      names.push(new TextDecoder().decode(new Uint8Array(view.buffer, at + 46, length)));
      expect(view.getUint32(view.getUint32(at + 42, true), true)).toBe(0x04034b50);
      at += 46 + length;
    }
    expect(names).toEqual(["lab.toml", "讲义/README.md"]);
    expect(at).toBe(end);
  });
});

describe("a file of a chosen folder", () => {
  it.each([
    ["lab1/lab.toml", "lab.toml"],
    ["lab1/data/train/x.npy", "data/train/x.npy"],
    ["lab1/.git/config", null],
    ["lab1/samples/good/a.py", null],
    ["lab1/code/__pycache__/a.pyc", null],
    ["lab1/a.pyc", null],
    ["lab1", null],
  ])("%s goes to %s", (relative, place) => expect(placeOf(relative)).toBe(place));
});
