import { type Area, page } from "@/app/page";

export default {
  inside: [page("/jobs", () => import("./Jobs")), page("/jobs/:job", () => import("./JobPage"))],
} satisfies Area;
