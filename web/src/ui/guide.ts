/** Where the students' guide says more about a refusal. */
import type { ApiError } from "@/api/client";

export type GuidePage = "start" | "hand-in" | "no-gpu" | "cards" | "debug";
export const GUIDE_PAGES: readonly GuidePage[] = ["start", "hand-in", "no-gpu", "cards", "debug"];

const BY_REASON: Readonly<Record<string, GuidePage>> = {
  no_tries_left: "hand-in",
  past_due: "hand-in",
  not_open: "hand-in",
  quota: "hand-in",
  budget: "cards",
  impossible: "cards",
  array_most: "cards",
  sbatch_option: "cards",
  slurm_refused: "cards",
};

const BY_CODE: Readonly<Record<string, GuidePage>> = {
  refused: "hand-in",
  too_large: "hand-in",
  over_limit: "cards",
};

/** Before signing in the guide cannot be read, and where the server is away it does not help. */
const NOWHERE = new Set(["not_signed_in", "unreachable", "no_answer", "unavailable"]);

/** The page for `error`: the server's own choice, else by what is refused, else where the guide begins. */
export function guideFor(error: ApiError): GuidePage | null {
  const told = GUIDE_PAGES.find((page) => page === error.details.guide);
  if (told) return told;
  if (NOWHERE.has(error.code) || error.reason === "sign_in_limit") return null;
  return BY_REASON[error.reason] ?? BY_CODE[error.code] ?? "start";
}
