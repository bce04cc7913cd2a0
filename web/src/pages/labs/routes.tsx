import { type Area, page } from "@/app/page";

export default {
  inside: [page("/c/:cohort/labs", () => import("./LabList")), page("/c/:cohort/labs/:lab", () => import("./Lab"))],
} satisfies Area;
