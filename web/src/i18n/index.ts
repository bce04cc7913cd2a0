/** Both languages, side by side: a sentence without its other half does not compile. */
import { createContext, useContext, useMemo } from "react";

export type Language = "zh" | "en";
/** [Chinese, English]; `{name}` is filled in. */
export type Pair = readonly [zh: string, en: string];
export type Texts = Readonly<Record<string, Pair>>;
export type Values = Readonly<Record<string, string | number>>;

/** The texts of one area of pages; stands in a `texts.ts` beside them. */
export function defineTexts<const T extends Texts>(texts: T): T {
  return texts;
}

export function say(pair: Pair, language: Language, values?: Values): string {
  const text = language === "zh" ? pair[0] : pair[1];
  return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
}

export interface LanguageChoice {
  language: Language;
  choose: (language: Language) => void;
}

export const LanguageContext = createContext<LanguageChoice>({ language: "zh", choose: () => undefined });

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext);
}

export type Say<T extends Texts> = (key: keyof T & string, values?: Values) => string;

/** `t("left", { n: 3 })` in the language of the page. */
export function useTexts<T extends Texts>(texts: T): Say<T> {
  const { language } = useLanguage();
  return useMemo(() => (key, values) => say(texts[key] as Pair, language, values), [texts, language]);
}

/** A text that came from the server in both languages. */
export function either(zh: string, en: string | null | undefined, language: Language): string {
  return language === "en" && en ? en : zh;
}

const KEPT = "qianka.language";

/** What was chosen here before, else what the browser asks for, else Chinese. */
export function firstLanguage(): Language {
  const kept = localStorage.getItem(KEPT);
  if (kept === "zh" || kept === "en") return kept;
  return navigator.language.toLowerCase().startsWith("en") ? "en" : "zh";
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(KEPT, language);
}
