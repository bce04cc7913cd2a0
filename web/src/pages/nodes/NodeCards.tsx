import { Card, Col, Row, Tag, Typography } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Meter } from "@/ui/Meter";
import { memory, plain } from "@/ui/tags";
import { nodeTexts } from "./texts";

type Node = Schemas["Node"];

/** Each card of a node: who has it and how busy it is. */
export function NodeCards({ node }: { node: Node }) {
  const t = useTexts(nodeTexts);
  if (node.cards.length === 0) return <Typography.Text type="secondary">{t("noCards")}</Typography.Text>;
  return (
    <Row gutter={[12, 12]}>
      {node.cards.map((card) => (
        <Col key={card.uuid} xs={24} sm={12} lg={8} xxl={6}>
          <OneCard card={card} holder={card.job === null ? undefined : node.jobs[card.job]} />
        </Col>
      ))}
    </Row>
  );
}

function OneCard({ card, holder }: { card: Schemas["NodeCard"]; holder?: Schemas["NodeJob"] }) {
  const t = useTexts(nodeTexts);
  const used = card.memory_used;
  return (
    <Card
      size="small"
      type="inner"
      title={t("card", { n: card.index })}
      extra={card.simulated ? <Tag>{t("simulated")}</Tag> : null}
    >
      <Typography.Text type="secondary" style={{ overflowWrap: "anywhere" }}>
        {card.model} · {memory(card.memory)}
      </Typography.Text>
      <div style={{ overflowWrap: "anywhere" }}>
        {holder ? <Holder job={holder} /> : <Typography.Text type="success">{t("free")}</Typography.Text>}
      </div>
      {!card.simulated && (
        <>
          <Meter
            label={t("cardBusy")}
            percent={card.percent}
            text={card.percent === null ? t("notMeasured") : t("percent", { n: plain(card.percent, 0) })}
          />
          <Meter
            label={t("cardMemory")}
            percent={used === null ? null : (100 * used) / card.memory}
            text={used === null ? t("notMeasured") : t("ofAll", { n: memory(used), m: memory(card.memory) })}
          />
        </>
      )}
    </Card>
  );
}

/** Who has it; of a job in another cohort no more than that. */
export function Holder({ job }: { job: Schemas["NodeJob"] }) {
  const t = useTexts(nodeTexts);
  if (job.id === null) return <Typography.Text type="secondary">{t("other")}</Typography.Text>;
  return (
    <>
      {job.person} · <Link to={`/jobs/${job.id}`}>{job.name || job.id}</Link>
    </>
  );
}
