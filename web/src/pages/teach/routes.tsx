import { type Area, page } from "@/app/page";

export default {
  inside: [
    page("/c/:cohort/teach/labs", () => import("./TeachLabs")),
    page("/c/:cohort/teach/labs/:lab", () => import("./TeachLab")),
    page("/c/:cohort/teach/labs/:lab/regrades/:regrade", () => import("./Regrade")),
  ],
} satisfies Area;
