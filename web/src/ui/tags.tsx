import { Tag } from "antd";
import { useTexts } from "@/i18n";
import { uiTexts } from "./texts";

const COLOURS: Record<string, string> = {
  PENDING: "default",
  RUNNING: "processing",
  COMPLETED: "success",
  FAILED: "error",
  TIMEOUT: "error",
  OUT_OF_MEMORY: "error",
  NODE_FAIL: "warning",
  PREEMPTED: "warning",
  UNKNOWN: "warning",
  running: "processing",
  done: "success",
};

/** The state of a job (Slurm's words) or of a grading (queued, running, done, cancelled). */
export function StateTag({ state }: { state: string }) {
  const t = useTexts(uiTexts);
  return <Tag color={COLOURS[state] ?? "default"}>{state in uiTexts ? t(state as keyof typeof uiTexts) : state}</Tag>;
}

const FAULTS = new Set(["infra_error", "not_run", "cancelled"]);

/** A verdict; `text` is its sentence from the server. */
export function VerdictTag({ verdict, text }: { verdict: string | null | undefined; text?: string | null }) {
  const t = useTexts(uiTexts);
  if (!verdict) return <Tag>{t("notGraded")}</Tag>;
  const colour = verdict === "accepted" ? "success" : FAULTS.has(verdict) ? "warning" : "error";
  return <Tag color={colour}>{text ?? verdict}</Tag>;
}

/** Points of a maximum, or a dash while there are none. */
export function Points({ points, of }: { points: number | null | undefined; of?: number | null }) {
  const t = useTexts(uiTexts);
  if (points === null || points === undefined) return <span>—</span>;
  const shown = plain(points);
  return <strong>{of === null || of === undefined ? shown : t("points", { n: shown, m: plain(of) })}</strong>;
}

/** A number without trailing zeros. */
export function plain(value: number, digits = 2): string {
  return Number(value.toFixed(digits)).toString();
}

/** The bytes of a file as people say them: 2 MB are two million. */
export function size(bytes: number | null | undefined): string {
  return inUnits(bytes, 1000, ["B", "KB", "MB", "GB", "TB"]);
}

/** The bytes of a memory as jobs ask for them: `--mem 2G` is 2 GiB. */
export function memory(bytes: number | null | undefined): string {
  return inUnits(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
}

function inUnits(bytes: number | null | undefined, step: number, units: string[]): string {
  if (bytes === null || bytes === undefined) return "—";
  const power = Math.min(units.length - 1, bytes < step ? 0 : Math.floor(Math.log(bytes) / Math.log(step)));
  const value = bytes / step ** power;
  return `${value < 100 ? Number(value.toPrecision(3)) : Math.round(value)} ${units[power]}`;
}
