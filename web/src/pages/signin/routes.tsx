import { type Area, page } from "@/app/page";

export default {
  outside: [page("/login", () => import("./Login")), page("/activate", () => import("./Activate"))],
} satisfies Area;
