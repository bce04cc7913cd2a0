import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { Page } from "@/ui/Page";
import { NodeBox } from "./NodeBox";
import { nodeTexts } from "./texts";

export default function NodePage() {
  const t = useTexts(nodeTexts);
  const { node = "" } = useParams();
  const found = useQuery({
    queryKey: ["nodes", "one", node],
    queryFn: () => body(api.GET("/api/nodes/{node}", { params: { path: { node } } })),
    refetchInterval: 10_000,
  });
  return (
    <Page title={node} above={<Link to="/nodes">{t("title")}</Link>}>
      <Answer of={found}>{(shown) => <NodeBox node={shown} linked={false} />}</Answer>
    </Page>
  );
}
