import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { Page } from "@/ui/Page";
import { LiveAttempt } from "./LiveAttempt";
import { submissionTexts } from "./texts";

export default function AttemptPage() {
  const t = useTexts(submissionTexts);
  const { attempt = "" } = useParams();
  const found = useQuery({
    queryKey: ["attempt", attempt, "head"],
    queryFn: () => body(api.GET("/api/attempts/{attempt_id}", { params: { path: { attempt_id: attempt } } })),
  });
  if (!found.data)
    return (
      <Page title={t("attempts")}>
        <Answer of={found}>{() => null}</Answer>
      </Page>
    );
  return (
    <Answer of={found}>
      {(shown) => (
        <Page
          title={t("attempt", { n: shown.number })}
          above={<Link to={`/submissions/${shown.submission}`}>{t("submission")}</Link>}
        >
          <LiveAttempt id={attempt} />
        </Page>
      )}
    </Answer>
  );
}
