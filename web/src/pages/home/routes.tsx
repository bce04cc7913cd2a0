import { type Area, page } from "@/app/page";

export default { inside: [page("/", () => import("./Home"))] } satisfies Area;
