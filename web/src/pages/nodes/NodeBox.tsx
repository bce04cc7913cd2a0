import { Card, Col, Flex, Row, Tag, Typography } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Meter } from "@/ui/Meter";
import { Moment } from "@/ui/Moment";
import { memory, plain } from "@/ui/tags";
import { NodeCards } from "./NodeCards";
import { NodeJobs } from "./NodeJobs";
import { nodeTexts } from "./texts";

type Node = Schemas["Node"];

const share = (part: number, whole: number) => (whole > 0 ? (100 * part) / whole : null);

/** One node: what is handed out of it, how busy it is, its cards and what runs. */
export function NodeBox({ node, linked = true }: { node: Node; linked?: boolean }) {
  const t = useTexts(nodeTexts);
  const used = node.memory_used;
  return (
    <Card
      size="small"
      title={linked ? <Link to={`/nodes/${encodeURIComponent(node.name)}`}>{node.name}</Link> : node.name}
      extra={<Tag color={node.alive ? "success" : "error"}>{node.alive ? t("there") : t("away")}</Tag>}
      data-testid="node"
    >
      <Flex vertical gap="middle">
        <Row gutter={[24, 8]}>
          <Col xs={24} sm={12} xl={6}>
            <Meter
              label={t("cores")}
              percent={share(node.cores_taken, node.cores)}
              text={t("ofAll", { n: node.cores_taken, m: node.cores })}
            />
          </Col>
          <Col xs={24} sm={12} xl={6}>
            <Meter
              label={t("memory")}
              percent={share(node.memory_taken, node.memory)}
              text={t("ofAll", { n: memory(node.memory_taken), m: memory(node.memory) })}
            />
          </Col>
          <Col xs={24} sm={12} xl={6}>
            <Meter
              label={t("cpuBusy")}
              percent={node.cpu_percent}
              text={node.cpu_percent === null ? t("notMeasured") : t("percent", { n: plain(node.cpu_percent, 0) })}
            />
          </Col>
          <Col xs={24} sm={12} xl={6}>
            <Meter
              label={t("memoryBusy")}
              percent={used === null ? null : share(used, Math.max(node.memory, used))}
              text={used === null ? t("notMeasured") : memory(used)}
            />
          </Col>
        </Row>
        <NodeCards node={node} />
        <NodeJobs jobs={node.jobs} />
        {node.seen_at && (
          <Typography.Text type="secondary">
            {t("seen")} <Moment at={node.seen_at} countdown />
          </Typography.Text>
        )}
      </Flex>
    </Card>
  );
}
