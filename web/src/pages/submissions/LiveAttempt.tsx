import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, body } from "@/api/client";
import { useLanguage } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { AttemptView } from "./AttemptView";

/** One grading, as it goes on. */
export function LiveAttempt({ id }: { id: string }) {
  const { language } = useLanguage();
  const queries = useQueryClient();
  const key = ["attempt", id, language];
  const found = useQuery({
    queryKey: key,
    queryFn: () => body(api.GET("/api/attempts/{attempt_id}", { params: { path: { attempt_id: id } } })),
  });
  useLive([`attempt:${id}`], () => {
    void queries.invalidateQueries({ queryKey: ["attempt", id] });
  });
  return <Answer of={found}>{(attempt) => <AttemptView attempt={attempt} />}</Answer>;
}
