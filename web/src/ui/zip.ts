/** A zip without compression, for a folder chosen in the browser. */

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

export function crc32(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

export interface ZipEntry {
  path: string;
  data: Uint8Array;
}

const UTF8 = 0x0800;
const FIRST_DAY = 0x21; // 1980-01-01: the same folder is the same zip

function header(size: number, fields: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(size);
  fields(new DataView(bytes.buffer));
  return bytes;
}

/** The zip of `entries`, in their order. */
export function zipOf(entries: readonly ZipEntry[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  let at = 0;
  for (const { path, data } of entries) {
    const name = new TextEncoder().encode(path);
    const crc = crc32(data);
    const common = (view: DataView, from: number) => {
      view.setUint16(from, 20, true);
      view.setUint16(from + 2, UTF8, true);
      view.setUint16(from + 8, FIRST_DAY, true);
      view.setUint32(from + 10, crc, true);
      view.setUint32(from + 14, data.length, true);
      view.setUint32(from + 18, data.length, true);
      view.setUint16(from + 22, name.length, true);
    };
    const local = header(30, (view) => {
      view.setUint32(0, 0x04034b50, true);
      common(view, 4);
    });
    const offset = at;
    const listed = header(46, (view) => {
      view.setUint32(0, 0x02014b50, true);
      view.setUint16(4, 20, true);
      common(view, 6);
      view.setUint32(42, offset, true);
    });
    parts.push(local, name, data);
    central.push(listed, name);
    at += local.length + name.length + data.length;
  }
  const size = central.reduce((sum, one) => sum + one.length, 0);
  const end = header(22, (view) => {
    view.setUint32(0, 0x06054b50, true);
    view.setUint16(8, entries.length, true);
    view.setUint16(10, entries.length, true);
    view.setUint32(12, size, true);
    view.setUint32(16, at, true);
  });
  const whole = new Uint8Array(at + size + end.length);
  let place = 0;
  for (const part of [...parts, ...central, end]) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

const LEFT_OUT = new Set(["samples", "__pycache__", ".git", ".venv", "node_modules"]);

/** Where a file of a chosen folder goes: without the folder's own name; null for what is not published. */
export function placeOf(relative: string): string | null {
  const parts = relative.split("/").slice(1);
  const isLeft = parts.length === 0 || parts.some((part) => LEFT_OUT.has(part) || part.startsWith("."));
  return isLeft || relative.endsWith(".pyc") ? null : parts.join("/");
}
