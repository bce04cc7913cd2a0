/** Local times of a class's zone, as a `datetime-local` field has them, and the instants they are. */

/** `2026-12-20T23:59` in `zone`; empty for none. */
export function toLocal(at: string | null | undefined, zone: string): string {
  return at ? wall(Date.parse(at), zone) : "";
}

/** The instant of a local time of `zone`, in UTC; null for what is no time. One that a clock leaps over moves on. */
export function fromLocal(local: string, zone: string): string | null {
  const asUtc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(local) ? Date.parse(`${local.slice(0, 16)}Z`) : Number.NaN;
  if (Number.isNaN(asUtc)) return null;
  // What is left over after one guess is the change of offset between the guess and the answer.
  const first = asUtc - offset(asUtc, zone);
  const second = asUtc - offset(first, zone);
  return new Date(offset(second, zone) === asUtc - second ? second : first).toISOString();
}

function offset(at: number, zone: string): number {
  return Date.parse(`${wall(at, zone)}Z`) - Math.floor(at / 60_000) * 60_000;
}

function wall(at: number, zone: string): string {
  const parts = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  }).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}`;
}
