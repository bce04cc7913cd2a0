import { type Area, page } from "@/app/page";

export default {
  inside: [
    page("/me", () => import("./Profile")),
    page("/me/tokens", () => import("./Tokens")),
    page("/me/sessions", () => import("./Sessions")),
  ],
} satisfies Area;
