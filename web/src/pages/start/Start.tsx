import { CheckCircleFilled, ClockCircleOutlined, InfoCircleOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Card, Flex, Progress, Typography, theme } from "antd";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Page } from "@/ui/Page";
import { startTexts } from "./texts";

type Step = Schemas["Step"];

/** A teacher's checklist; the server works it out anew each time. */
export default function Start() {
  const t = useTexts(startTexts);
  const { cohort = "" } = useParams();
  const steps = useQuery({
    queryKey: ["checklist", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/checklist", { params: { path: { cohort } } })),
    refetchInterval: 30_000,
  });
  useLive([`staff:${cohort}`, `cohort:${cohort}`], (event) => {
    if (["lab", "dates", "people", "inquiry"].includes(event.kind)) void steps.refetch();
  });
  return (
    <Page title={t("title")}>
      <Typography.Text type="secondary">{t("lead")}</Typography.Text>
      <Answer of={steps}>
        {(rows) => (
          <>
            <Done rows={rows} />
            <Flex vertical gap="small" component="ol" style={{ margin: 0, padding: 0, listStyle: "none" }}>
              {rows.map((step) => (
                <li key={step.key}>
                  <OneStep step={step} />
                </li>
              ))}
            </Flex>
          </>
        )}
      </Answer>
      <Card size="small" title={t("more")}>
        <Flex vertical gap="small">
          <Link to="/nodes">{t("nodes")}</Link>
          <Link to={`/c/${cohort}/screen`}>{t("screen")}</Link>
          <Link to="/guide/start">{t("guide")}</Link>
        </Flex>
      </Card>
    </Page>
  );
}

function Done({ rows }: { rows: Step[] }) {
  const t = useTexts(startTexts);
  const left = rows.filter((step) => step.state === "todo").length;
  const told = left === 0 ? t("ready") : t("left", { n: left });
  return (
    <Flex align="center" gap="middle" wrap>
      <Progress
        percent={Math.round((100 * (rows.length - left)) / Math.max(1, rows.length))}
        showInfo={false}
        aria-label={told}
        style={{ maxWidth: 320, flex: 1, minWidth: 160 }}
      />
      <span>{told}</span>
    </Flex>
  );
}

function OneStep({ step }: { step: Step }) {
  const t = useTexts(startTexts);
  const { token } = theme.useToken();
  const look = {
    done: <CheckCircleFilled aria-label={t("done")} style={{ color: token.colorSuccess, fontSize: 22 }} />,
    todo: <ClockCircleOutlined aria-label={t("todo")} style={{ color: token.colorError, fontSize: 22 }} />,
    look: <InfoCircleOutlined aria-label={t("look")} style={{ color: token.colorWarning, fontSize: 22 }} />,
  };
  return (
    <Card size="small">
      <Flex gap="middle" align="center" wrap>
        {look[step.state as keyof typeof look] ?? look.look}
        <div style={{ flex: 1, minWidth: 200, overflowWrap: "anywhere" }}>
          <Typography.Text strong>{step.title}</Typography.Text>
          <div>
            <Typography.Text type="secondary">{step.text}</Typography.Text>
          </div>
        </div>
        {step.to && (
          <Link to={step.to} aria-label={t("open", { step: step.title })}>
            <Button type={step.state === "todo" ? "primary" : "default"} tabIndex={-1}>
              {t("go")}
            </Button>
          </Link>
        )}
      </Flex>
    </Card>
  );
}
