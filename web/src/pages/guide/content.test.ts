import { describe, expect, it } from "vitest";
import { GUIDE_PAGES, type GuidePage } from "@/ui/guide";
import { hasPage, linked, readPage } from "./content";

const both = GUIDE_PAGES.flatMap((page) => [[page, "zh"] as const, [page, "en"] as const]);

describe("the guide", () => {
  it.each(both)("has %s in %s, and links only to pages that are there", async (page, language) => {
    const text = await readPage(page, language);
    expect(text.length).toBeGreaterThan(300);
    expect(text).not.toMatch(/^# /m);
    expect(text).not.toMatch(/\.md\)/);
    for (const [, other] of text.matchAll(/\]\(\/guide\/([a-z-]+)\)/g))
      expect(hasPage(other as GuidePage, language)).toBe(true);
  });
  it("knows a page that is not there", () => {
    expect(hasPage("nothing", "zh")).toBe(false);
  });
  it("leaves links to elsewhere as they are", () => {
    expect(linked("[a](https://x.example/b.md) [b](hand-in.zh.md)")).toBe(
      "[a](https://x.example/b.md) [b](/guide/hand-in)",
    );
  });
});
