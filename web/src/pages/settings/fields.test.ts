import { expect, test } from "vitest";
import type { Schemas } from "@/api/client";
import { changeOf, fieldsOf, zones } from "./fields";

const COHORT: Schemas["Cohort"] = {
  slug: "ai",
  title: "人工智能",
  term: "2026 秋",
  zone: "Asia/Shanghai",
  week_start: "1 08:00",
  class_times: [{ weekday: 1, start: "08:00", end: "09:35", place: "A101" }],
  late_days: 2,
  archived_at: null,
  cpu_hours: null,
  gpu_hours: 8,
  demo: false,
  role: "teacher",
  created_at: "2026-09-01T00:00:00Z",
};

test("a form that nobody touched changes nothing", () => {
  expect(changeOf(COHORT, fieldsOf(COHORT))).toEqual({});
});

test("only what differs is sent", () => {
  const fields = fieldsOf(COHORT);
  expect(changeOf(COHORT, { ...fields, title: " AI ", gpu_hours: null })).toEqual({ title: "AI", gpu_hours: null });
  expect(changeOf(COHORT, { ...fields, weekDay: 3, weekTime: "07:30:00" })).toEqual({ week_start: "3 07:30" });
  expect(changeOf(COHORT, { ...fields, class_times: [] })).toEqual({ class_times: [] });
});

test("the zone in use can always be chosen", () => {
  expect(zones("Etc/Unheard")[0]).toBe("Etc/Unheard");
  expect(zones("Asia/Shanghai").filter((one) => one === "Asia/Shanghai")).toHaveLength(1);
});
