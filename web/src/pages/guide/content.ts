/** The guide's pages as they lie in the course; each is fetched when it is read. */
import type { Language } from "@/i18n";
import type { GuidePage } from "@/ui/guide";

const FOLDER = "../../../../course/guide/";
const files = import.meta.glob<string>("../../../../course/guide/*.*.md", { query: "?raw", import: "default" });

/** Links from page to page: files in the repository, addresses here. */
export function linked(text: string): string {
  return text.replace(/\]\(([a-z-]+)\.(?:zh|en)\.md\)/g, "](/guide/$1)");
}

/** The heading stands in the page's frame already. */
export function withoutHeading(text: string): string {
  return text.replace(/^# .*\n+/, "");
}

export function hasPage(page: string, language: Language): boolean {
  return `${FOLDER}${page}.${language}.md` in files;
}

export async function readPage(page: GuidePage, language: Language): Promise<string> {
  const load = files[`${FOLDER}${page}.${language}.md`];
  if (!load) throw new Error(`no guide page ${page}`);
  return linked(withoutHeading(await load()));
}
