import { type Area, page } from "@/app/page";

export default { inside: [page("/guide/:page", () => import("./Guide"))] } satisfies Area;
