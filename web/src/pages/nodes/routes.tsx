import { type Area, page } from "@/app/page";

export default {
  inside: [page("/nodes", () => import("./Nodes")), page("/nodes/:node", () => import("./NodePage"))],
} satisfies Area;
