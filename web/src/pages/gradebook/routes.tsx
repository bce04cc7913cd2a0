import { type Area, page } from "@/app/page";

export default { inside: [page("/c/:cohort/grades", () => import("./GradeBook"))] } satisfies Area;
