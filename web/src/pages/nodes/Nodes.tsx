import { useQuery } from "@tanstack/react-query";
import { Typography } from "antd";
import { Link } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { NodeBox } from "./NodeBox";
import { Parts } from "./Parts";
import { nodeTexts } from "./texts";

const EVERY = 10_000;

/** The health of the platform and of each node and card, and who runs what. */
export default function Nodes() {
  const t = useTexts(nodeTexts);
  const { language } = useLanguage();
  const found = useQuery({
    queryKey: ["nodes", language],
    queryFn: () => body(api.GET("/api/nodes")),
    refetchInterval: EVERY,
  });
  return (
    <Page title={t("title")}>
      <Answer of={found}>
        {(machines) => (
          <>
            <Parts parts={machines.parts} />
            <Queue machines={machines} />
            {machines.nodes.length === 0 && <Typography.Text type="secondary">{t("none")}</Typography.Text>}
            {machines.nodes.map((node) => (
              <NodeBox key={node.name} node={node} />
            ))}
          </>
        )}
      </Answer>
    </Page>
  );
}

function Queue({ machines }: { machines: Schemas["Machines"] }) {
  const t = useTexts(nodeTexts);
  if (machines.waiting === 0) return <Typography.Text type="secondary">{t("nobodyWaits")}</Typography.Text>;
  return (
    <span>
      <Link to="/jobs" style={{ textDecoration: "underline" }}>
        {t("waiting", { n: machines.waiting })}
      </Link>{" "}
      · {t("since")} <Moment at={machines.waiting_since} countdown />
    </span>
  );
}
