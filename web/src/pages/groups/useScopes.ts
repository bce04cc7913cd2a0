import { useQuery } from "@tanstack/react-query";
import { api, body } from "@/api/client";
import { either, useLanguage, useTexts } from "@/i18n";
import { groupTexts } from "./texts";

export interface Scope {
  /** The name of a lab; empty: the whole cohort. */
  slug: string;
  title: string;
}

/** What groups may be made for. */
export function useScopes(cohort: string): Scope[] {
  const t = useTexts(groupTexts);
  const { language } = useLanguage();
  const labs = useQuery({
    queryKey: ["labs", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs", { params: { path: { cohort } } })),
  });
  return [
    { slug: "", title: t("whole") },
    ...(labs.data ?? []).map((lab) => ({ slug: lab.slug, title: either(lab.title, lab.title_en, language) })),
  ];
}
