import { type Area, page } from "@/app/page";

export default { inside: [page("/c/:cohort/start", () => import("./Start"))] } satisfies Area;
