import { Typography } from "antd";
import { useSyncExternalStore } from "react";
import { useLanguage, useTexts } from "@/i18n";
import { uiTexts } from "./texts";
import { localTime, span } from "./time";

let now = Date.now();
const watchers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** One clock for all countdowns of the page. */
function everySecond(watcher: () => void): () => void {
  watchers.add(watcher);
  if (ticking === undefined) {
    now = Date.now(); // nobody has looked at it since the last countdown went
    ticking = setInterval(() => {
      now = Date.now();
      for (const one of watchers) one();
    }, 1000);
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) {
      clearInterval(ticking);
      ticking = undefined;
    }
  };
}

/** Milliseconds since 1970, each second anew. */
export function useNow(): number {
  return useSyncExternalStore(everySecond, () => now);
}

interface Props {
  at: string | null | undefined;
  zone?: string;
  /** Also how long until then, or since. */
  countdown?: boolean;
}

/** A time as local time with its offset, and live how far away it is. */
export function Moment({ at, zone, countdown }: Props) {
  if (!at) return <span>—</span>;
  return (
    <time dateTime={at}>
      {localTime(at, zone)}
      {countdown && <Countdown at={at} />}
    </time>
  );
}

function Countdown({ at }: { at: string }) {
  const { language } = useLanguage();
  const t = useTexts(uiTexts);
  const seconds = (Date.parse(at) - useNow()) / 1000;
  const key = seconds >= 0 ? "inTime" : "ago";
  const type = seconds < 0 ? "secondary" : seconds < 86_400 ? "danger" : undefined;
  return <Typography.Text type={type}> · {t(key, { left: span(seconds, language) })}</Typography.Text>;
}
