import { type Area, page } from "@/app/page";

export default {
  inside: [
    page("/c/:cohort/boards", () => import("./BoardList")),
    page("/c/:cohort/boards/new", () => import("./MakeBoard")),
    page("/c/:cohort/boards/:board", () => import("./Board")),
    page("/c/:cohort/labs/:lab/board", () => import("./LabBoard")),
  ],
} satisfies Area;
