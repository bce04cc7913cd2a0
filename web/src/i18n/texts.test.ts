import { describe, expect, it } from "vitest";
import type { Pair, Texts } from "./index";

const modules = import.meta.glob<Record<string, Texts>>("../**/*texts.ts", { eager: true });

describe.each(Object.entries(modules))("%s", (_, module) => {
  const pairs = Object.values(module).flatMap((texts) => Object.entries(texts));
  it("has texts", () => {
    expect(pairs.length).toBeGreaterThan(0);
  });
  it.each(pairs)("%s is said in both languages, with the same values", (_key, pair: Pair) => {
    const [zh, en] = pair;
    expect(zh.trim()).not.toBe("");
    expect(en.trim()).not.toBe("");
    expect(en).not.toMatch(/[\u4e00-\u9fff]/);
    const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1]).sort();
    expect(names(en)).toEqual(names(zh));
  });
});
