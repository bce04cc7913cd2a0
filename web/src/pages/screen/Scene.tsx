import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { either, useLanguage, useTexts } from "@/i18n";
import { Chart } from "@/ui/Chart";
import { Moment } from "@/ui/Moment";
import { plain } from "@/ui/tags";
import { screenTexts } from "./texts";
import type { Step } from "./turn";

type Shown = Schemas["ScreenShown"];

/** One scene of the projector. */
export function Scene({ shown, step }: { shown: Shown; step: Step }) {
  switch (step.scene) {
    case "board":
      return <Board board={shown.boards[step.board ?? 0]} />;
    case "queue":
      return <Queue shown={shown} />;
    case "deadlines":
      return <Deadlines shown={shown} />;
    case "top":
      return <Top shown={shown} />;
    default:
      return <Curves shown={shown} />;
  }
}

function Lines({ title, empty, children }: { title: ReactNode; empty: string; children: ReactNode[] }) {
  return (
    <>
      <h1>{title}</h1>
      {children.length === 0 ? <p className="screen-soft">{empty}</p> : <ol className="screen-list">{children}</ol>}
    </>
  );
}

function Board({ board }: { board: Schemas["ScreenBoard"] | undefined }) {
  const t = useTexts(screenTexts);
  const { language } = useLanguage();
  const title = board ? either(board.title, board.title_en, language) : t("board");
  return (
    <Lines
      title={
        <>
          {title} {board && <small className="screen-soft">{t("ofAll", { n: board.total })}</small>}
        </>
      }
      empty={t("noBoard")}
    >
      {(board?.rows ?? []).map((row, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same name; a line is its place
        <li key={place}>
          <span className="screen-rank">{row.rank ?? "—"}</span>
          <span className="grow">{row.name}</span>
          <span className="screen-figure">{row.score ?? "—"}</span>
        </li>
      ))}
    </Lines>
  );
}

function Queue({ shown }: { shown: Shown }) {
  const t = useTexts(screenTexts);
  return (
    <Lines
      title={`${t("queue")} · ${t("running", { n: shown.running })} · ${t("waiting", { n: shown.waiting })}`}
      empty={t("nobodyWaits")}
    >
      {shown.queue.map((job, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: one person may have several jobs; a line is its place
        <li key={place}>
          <span className="screen-rank">{place + 1}</span>
          <span className="grow">{job.name}</span>
          {job.gpus > 0 && <span className="screen-soft">{job.gpus} GPU</span>}
          <span className="screen-figure">{t(job.state === "RUNNING" ? "RUNNING" : "PENDING")}</span>
        </li>
      ))}
    </Lines>
  );
}

function Deadlines({ shown }: { shown: Shown }) {
  const t = useTexts(screenTexts);
  const { language } = useLanguage();
  return (
    <Lines title={t("deadlines")} empty={t("nothingDue")}>
      {shown.dates.map((date) => (
        <li key={date.title + date.due_at}>
          <span className="grow">{either(date.title, date.title_en, language)}</span>
          <span className="screen-figure">
            <Moment at={date.due_at} zone={shown.zone} />
          </span>
        </li>
      ))}
    </Lines>
  );
}

function Top({ shown }: { shown: Shown }) {
  const t = useTexts(screenTexts);
  return (
    <Lines title={t("top")} empty={t("noUse")}>
      {shown.top.map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
        <li key={place}>
          <span className="screen-rank">{line.rank}</span>
          <span className="grow">{line.name}</span>
          <span className="screen-figure">
            {line.gpu_hours > 0
              ? t("gpuHours", { n: plain(line.gpu_hours) })
              : t("cpuHours", { n: plain(line.cpu_hours) })}
          </span>
          <span className="screen-soft">
            {line.gpu_busy !== null
              ? t("busy", { n: Math.round(line.gpu_busy) })
              : line.cpu_busy !== null && t("busy", { n: Math.round(line.cpu_busy) })}
          </span>
        </li>
      ))}
    </Lines>
  );
}

function Curves({ shown }: { shown: Shown }) {
  const t = useTexts(screenTexts);
  const letters = Math.round(Math.max(12, Math.min(60, Math.min(window.innerWidth, window.innerHeight) / 45)));
  const drawn = shown.curves.filter((curve) => curve.points.length > 1);
  return (
    <>
      <h1>{t("jobs")}</h1>
      {drawn.length === 0 ? (
        <p className="screen-soft">{t("noCurve")}</p>
      ) : (
        <div className="screen-paper">
          <Chart
            title={t("jobs")}
            height={Math.round(window.innerHeight * 0.62)}
            letters={letters}
            x={{ name: t("step") }}
            y={{ name: t("loss") }}
            series={drawn.map((curve, number) => ({
              name: `${number + 1} ${curve.name}`,
              points: curve.points.map(([x = 0, y = 0]) => [x, y] as const),
            }))}
            summary={t("curvesSay", { n: drawn.length })}
          />
        </div>
      )}
    </>
  );
}
