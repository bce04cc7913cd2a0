import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { ApiError, asError, type Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { useNow } from "@/ui/Moment";
import { Scene } from "./Scene";
import "./screen.css";
import { screenTexts } from "./texts";
import { type Step, stepsOf } from "./turn";

type Shown = Schemas["ScreenShown"];
const EVERY = 5000;

/** The projector of a classroom: scenes in turn, by themselves; its token stands behind the # of its address. */
export default function Screen() {
  const t = useTexts(screenTexts);
  const { language } = useLanguage();
  const [token] = useState(() => location.hash.slice(1));
  const found = useQuery({
    queryKey: ["screen", token],
    enabled: token !== "",
    refetchInterval: EVERY,
    refetchIntervalInBackground: true,
    retry: false,
    queryFn: () => look(token, language),
  });
  useEffect(() => {
    document.title = `${t("screens")} · 千卡 Qianka`;
  }, [t]);
  const refused = found.error instanceof ApiError && found.error.status === 401 ? found.error : undefined;
  if (token === "" || refused)
    return (
      <main className="screen">
        <h1>{refused ? refused.message : t("noToken")}</h1>
        <p>{refused ? refused.hint : t("noTokenHint")}</p>
      </main>
    );
  if (!found.data) return <main className="screen">{found.isError && <p role="alert">{t("away")}</p>}</main>;
  return <Turning shown={found.data} away={found.isError} />;
}

function Turning({ shown, away }: { shown: Shown; away: boolean }) {
  const t = useTexts(screenTexts);
  const now = useNow();
  const steps = stepsOf(shown.scenes, shown.boards.length);
  const { language } = useLanguage();
  const { at, isPaused, pause, turn } = useTurn(steps.length, shown.seconds);
  const step: Step | undefined = steps[at % Math.max(1, steps.length)];
  const clock = (withSeconds: boolean) =>
    new Intl.DateTimeFormat("en-GB", {
      timeZone: shown.zone,
      hour: "2-digit",
      minute: "2-digit",
      ...(withSeconds ? { second: "2-digit" } : {}),
    }).format(now);
  return (
    <main className="screen">
      <div className="screen-head">
        <span>{shown.title}</span>
        <span>{clock(false)}</span>
      </div>
      <div className="screen-main">
        {shown.on && step ? <Scene key={`${step.scene} ${step.board ?? ""}`} shown={shown} step={step} /> : null}
        {!shown.on && (
          <>
            <div className="screen-clock" role="timer">
              {clock(true)}
            </div>
            {shown.next_at && (
              <p className="screen-centre">
                {t("nextClass")}{" "}
                {new Date(shown.next_at).toLocaleString(language === "zh" ? "zh-CN" : "en-GB", {
                  timeZone: shown.zone,
                  weekday: "long",
                  hour: "2-digit",
                  minute: "2-digit",
                })}
              </p>
            )}
          </>
        )}
      </div>
      <div className="screen-foot">
        <span className="screen-dots" aria-hidden>
          {shown.on &&
            steps.map((one, number) => (
              <span
                key={`${one.scene} ${one.board ?? ""}`}
                className={number === at % steps.length ? "now" : undefined}
              />
            ))}
        </span>
        {shown.on && (
          <span>
            <button type="button" aria-label={t("before")} onClick={() => turn(-1)}>
              ‹
            </button>{" "}
            <button type="button" aria-label={isPaused ? t("goOn") : t("pause")} onClick={pause}>
              {isPaused ? "▶" : "❚❚"}
            </button>{" "}
            <button type="button" aria-label={t("after")} onClick={() => turn(1)}>
              ›
            </button>
          </span>
        )}
        {away || isPaused ? (
          <span role="status">{t(away ? "away" : "paused")}</span>
        ) : (
          <span className="screen-hint">{t("keys")}</span>
        )}
      </div>
    </main>
  );
}

interface Turn {
  at: number;
  isPaused: boolean;
  pause: () => void;
  /** By so many scenes, on or back. */
  turn: (by: number) => void;
}

/** The number of the step that is shown; space pauses, the arrows change it, L changes the language. */
function useTurn(count: number, seconds: number): Turn {
  const [at, setAt] = useState(0);
  const [isPaused, setPaused] = useState(false);
  const { language, choose } = useLanguage();
  const pause = useCallback(() => setPaused((was) => !was), []);
  const turn = useCallback((by: number) => setAt((was) => (count > 0 ? (was + count + by) % count : 0)), [count]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a step that was chosen by hand stays its whole time
  useEffect(() => {
    if (isPaused || count < 2) return;
    const timer = setTimeout(() => turn(1), seconds * 1000);
    return () => clearTimeout(timer);
  }, [at, turn, seconds, isPaused]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === " " && !(event.target instanceof HTMLButtonElement)) pause();
      else if (event.key === "ArrowRight") turn(1);
      else if (event.key === "ArrowLeft") turn(-1);
      else if (event.key.toLowerCase() === "l") choose(language === "zh" ? "en" : "zh");
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [pause, turn, language, choose]);
  return { at, isPaused, pause, turn };
}

async function look(token: string, language: string): Promise<Shown> {
  const response = await fetch("/api/screen", {
    headers: { "X-Screen-Token": token, "Accept-Language": language },
    credentials: "omit",
  });
  if (!response.ok) throw await asError(response);
  return (await response.json()) as Shown;
}
