import { useEffect } from "react";
import { useParams } from "react-router";
import { type Me, useMe } from "./me";

const KEPT = "qianka.cohort";

/** The cohort that is looked at: of the address, else the one looked at last, else the newest. */
export function useCohort(): string | undefined {
  const { cohort } = useParams();
  const me = useMe();
  useEffect(() => {
    if (cohort) localStorage.setItem(KEPT, cohort);
  }, [cohort]);
  return cohort ?? lastCohort(me);
}

export function lastCohort(me: Me): string | undefined {
  const kept = localStorage.getItem(KEPT);
  const active = me.cohorts.filter((one) => one.state === "active");
  if (kept && (me.is_admin || active.some((one) => one.cohort === kept))) return kept;
  return (active[0] ?? me.cohorts[0])?.cohort;
}
