import { type Area, page } from "@/app/page";

export default {
  inside: [
    page("/c/:cohort/inquiries", () => import("./Inquiries")),
    page("/c/:cohort/inquiries/:inquiry", () => import("./Inquiry")),
  ],
} satisfies Area;
