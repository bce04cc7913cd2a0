/** Writes `.gz` and `.br` beside each built file: the server sends them as they are. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const WORTHWHILE = /\.(js|css|svg|json)$/;
const SMALL = 1024;

export function compress(): Plugin {
  let out = "";
  return {
    name: "compress",
    apply: "build",
    configResolved(config) {
      out = config.build.outDir;
    },
    closeBundle() {
      for (const name of readdirSync(join(out, "assets"))) {
        const path = join(out, "assets", name);
        const data = readFileSync(path);
        if (!WORTHWHILE.test(name) || data.length < SMALL) continue;
        writeFileSync(`${path}.gz`, gzipSync(data, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
      }
    },
  };
}
