import { type Language, say } from "@/i18n";
import { uiTexts } from "./texts";

/** `2026-12-01 18:00 (UTC+8)` in an IANA zone: local time and offset, never a bare zone name. */
export function localTime(at: string | Date, zone?: string, withDate = true): string {
  const date = typeof at === "string" ? new Date(at) : at;
  const parts = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "shortOffset",
  }).formatToParts(date);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  const offset = part("timeZoneName").replace("GMT", "UTC") || "UTC";
  const day = withDate ? `${part("year")}-${part("month")}-${part("day")} ` : "";
  return `${day}${part("hour")}:${part("minute")} (${offset === "UTC" ? "UTC+0" : offset})`;
}

/** A length of time in its two largest units; `seconds` may be negative, its sign is left out. */
export function span(seconds: number, language: Language): string {
  const s = Math.abs(Math.trunc(seconds));
  const two = (key: "days" | "hours" | "minutes", n: number, m: number) => say(uiTexts[key], language, { n, m });
  if (s >= 86_400) return two("days", Math.floor(s / 86_400), Math.floor((s % 86_400) / 3600));
  if (s >= 3600) return two("hours", Math.floor(s / 3600), Math.floor((s % 3600) / 60));
  if (s >= 60) return two("minutes", Math.floor(s / 60), s % 60);
  return say(uiTexts.seconds, language, { n: s });
}
