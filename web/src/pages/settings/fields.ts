import type { Schemas } from "@/api/client";

type Cohort = Schemas["Cohort"];
type Change = Schemas["ChangeCohort"];

export interface ClassFields {
  weekday: number;
  start: string;
  end: string;
  place?: string;
}

export interface Fields {
  title: string;
  term: string;
  zone: string;
  weekDay: number;
  weekTime: string;
  gpu_hours: number | null;
  cpu_hours: number | null;
  class_times: ClassFields[];
}

/** The form of a cohort as it is. */
export function fieldsOf(cohort: Cohort): Fields {
  const [day, time] = cohort.week_start.split(" ");
  return {
    title: cohort.title,
    term: cohort.term,
    zone: cohort.zone,
    weekDay: Number(day) || 1,
    weekTime: time ?? "00:00",
    gpu_hours: cohort.gpu_hours,
    cpu_hours: cohort.cpu_hours,
    class_times: cohort.class_times,
  };
}

/** What differs from the cohort as it is: nothing else is sent, and nothing else overwritten. */
export function changeOf(cohort: Cohort, fields: Fields): Partial<Change> {
  const wanted: Partial<Change> = {
    title: fields.title.trim(),
    term: (fields.term ?? "").trim(),
    zone: fields.zone,
    week_start: `${fields.weekDay} ${fields.weekTime.slice(0, 5)}`,
    gpu_hours: fields.gpu_hours ?? null,
    cpu_hours: fields.cpu_hours ?? null,
    class_times: fields.class_times.map((one) => ({
      weekday: one.weekday,
      start: one.start.slice(0, 5),
      end: one.end.slice(0, 5),
      place: (one.place ?? "").trim(),
    })),
  };
  const same = (name: keyof typeof wanted) => JSON.stringify(wanted[name]) === JSON.stringify(cohort[name]);
  return Object.fromEntries(
    Object.entries(wanted).filter(([name]) => !same(name as keyof typeof wanted)),
  ) as Partial<Change>;
}

/** The zones that browsers know; the one in use is always among them. */
export function zones(present: string): string[] {
  return [...new Set([present, "Asia/Shanghai", "UTC", ...Intl.supportedValuesOf("timeZone")])];
}
