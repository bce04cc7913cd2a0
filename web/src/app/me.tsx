import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext } from "react";
import { ApiError, api, body, type Schemas, session } from "@/api/client";

export type Me = Schemas["Me"];

const MeContext = createContext<Me | null>(null);

/** Who is signed in; only below the pages that need it. */
export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === null) throw new Error("this page stands outside of the sign-in");
  return me;
}

export function MeProvider({ me, children }: { me: Me; children: ReactNode }) {
  return <MeContext value={me}>{children}</MeContext>;
}

/** Who is signed in; null when nobody is. */
export function useWho() {
  return useQuery({
    queryKey: ["me"],
    queryFn: async (): Promise<Me | null> => {
      try {
        const me = await body(api.GET("/api/me"));
        session.csrf = me.csrf ?? null;
        return me;
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null;
        throw error;
      }
    },
    staleTime: 60_000,
  });
}

const STAFF = new Set(["teacher", "assistant"]);

/** Whether one is staff of a cohort; an administrator is, everywhere. */
export function isStaff(me: Me, cohort: string | undefined): boolean {
  return (
    me.is_admin || me.cohorts.some((one) => one.cohort === cohort && one.state !== "suspended" && STAFF.has(one.role))
  );
}
