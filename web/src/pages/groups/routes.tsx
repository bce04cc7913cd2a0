import { type Area, page } from "@/app/page";

export default { inside: [page("/c/:cohort/groups", () => import("./Groups"))] } satisfies Area;
