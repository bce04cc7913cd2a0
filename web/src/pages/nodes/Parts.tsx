import { CheckCircleFilled, WarningFilled } from "@ant-design/icons";
import { Card, Col, Flex, Row, Typography, theme } from "antd";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { nodeTexts } from "./texts";

/** Database, worker, sandbox and disk: in order, or what is wrong and what to do. */
export function Parts({ parts }: { parts: Schemas["Part"][] }) {
  const t = useTexts(nodeTexts);
  const { token } = theme.useToken();
  return (
    <section aria-label={t("parts")}>
      <Row gutter={[16, 16]}>
        {parts.map((part) => (
          <Col key={part.key} xs={24} md={12} xl={6}>
            <Card size="small" style={{ height: "100%" }} data-testid={`part-${part.key}`}>
              <Flex gap="small" align="start">
                {part.ok ? (
                  <CheckCircleFilled aria-label={t("well")} style={{ color: token.colorSuccess, fontSize: 20 }} />
                ) : (
                  <WarningFilled aria-label={t("wrong")} style={{ color: token.colorError, fontSize: 20 }} />
                )}
                <div style={{ minWidth: 0, overflowWrap: "anywhere" }}>
                  <Typography.Text strong>{t(part.key as "worker")}</Typography.Text>
                  <div>{part.text}</div>
                  {part.fix && <Typography.Text type="secondary">{part.fix}</Typography.Text>}
                </div>
              </Flex>
            </Card>
          </Col>
        ))}
      </Row>
    </section>
  );
}
