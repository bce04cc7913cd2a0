import { type Area, page } from "@/app/page";

export default {
  inside: [
    page("/c/:cohort/people", () => import("./People")),
    page("/c/:cohort/people/import", () => import("./ImportRoster")),
  ],
} satisfies Area;
