import { type Area, page } from "@/app/page";

export default {
  outside: [page("/screen/:cohort", () => import("./Screen"))],
  inside: [page("/c/:cohort/screen", () => import("./Screens"))],
} satisfies Area;
