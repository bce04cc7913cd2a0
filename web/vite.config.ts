import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compress } from "./compress.ts";

/** Where the server looks for the pages; git-ignored. */
const OUT = "../packages/qianka/src/qianka/server/static/app";

export default defineConfig(({ command }) => ({
  plugins: [react(), compress()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  base: command === "build" ? "/static/app/" : "/",
  html: { cspNonce: "__NONCE__" },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    manifest: true,
    // A nonce cannot stand in a data: address, and our policy has none.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
  },
  server: {
    fs: { allow: [".", "../course/guide"] },
    proxy: {
      "/api": {
        // The host stays as the browser has it: the server compares it with the origin of a form.
        target: process.env.QIANKA_API ?? "http://127.0.0.1:8750",
      },
    },
  },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"] },
}));
