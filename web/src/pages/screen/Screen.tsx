import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
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
  const { at, isPaused } = useTurn(steps.length, shown.seconds);
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
                {new Date(shown.next_at).toLocaleString(undefined, {
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
        <span>{away ? t("away") : isPaused ? t("paused") : t("keys")}</span>
      </div>
    </main>
  );
}

/** The number of the step that is shown; space pauses, the arrows change it. */
function useTurn(count: number, seconds: number): { at: number; isPaused: boolean } {
  const [at, setAt] = useState(0);
  const [isPaused, setPaused] = useState(false);
  useEffect(() => {
    if (isPaused || count < 2) return;
    const timer = setTimeout(() => setAt((at + 1) % count), seconds * 1000);
    return () => clearTimeout(timer);
  }, [at, count, seconds, isPaused]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key === " ") setPaused((was) => !was);
      else if (event.key === "ArrowRight" && count > 0) setAt((was) => (was + 1) % count);
      else if (event.key === "ArrowLeft" && count > 0) setAt((was) => (was + count - 1) % count);
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [count]);
  return { at, isPaused };
}

async function look(token: string, language: string): Promise<Shown> {
  const response = await fetch("/api/screen", {
    headers: { "X-Screen-Token": token, "Accept-Language": language },
    credentials: "omit",
  });
  if (!response.ok) throw await asError(response);
  return (await response.json()) as Shown;
}
