import { type Area, page } from "@/app/page";

export default {
  inside: [
    page("/submissions/:submission", () => import("./Submission")),
    page("/attempts/:attempt", () => import("./AttemptPage")),
    page("/c/:cohort/submissions", () => import("./Search")),
    page("/c/:cohort/compare", () => import("./Compare")),
  ],
} satisfies Area;
