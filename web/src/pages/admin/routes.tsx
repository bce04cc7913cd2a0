import { type Area, page } from "@/app/page";

export default {
  inside: [page("/admin/cohorts", () => import("./Cohorts")), page("/admin/audit", () => import("./Audit"))],
} satisfies Area;
