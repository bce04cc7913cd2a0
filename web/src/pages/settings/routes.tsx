import { type Area, page } from "@/app/page";

export default { inside: [page("/c/:cohort/settings", () => import("./Settings"))] } satisfies Area;
