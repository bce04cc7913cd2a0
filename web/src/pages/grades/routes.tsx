import { type Area, page } from "@/app/page";

export default { inside: [page("/grades", () => import("./MyGrades"))] } satisfies Area;
