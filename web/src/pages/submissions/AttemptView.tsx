import { Alert, Card, Collapse, Flex, Typography } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { Points, StateTag, VerdictTag } from "@/ui/tags";
import { Curve } from "./Curve";
import { Stages } from "./Stages";
import { stageName } from "./stageName";
import { submissionTexts } from "./texts";

type Attempt = Schemas["Attempt"];

const FAULTS = new Set(["infra_error", "not_run", "cancelled"]);

/** Of tests and notebooks, one part below the other. */
function Message({ check }: { check: Schemas["Check"] }) {
  const { language } = useLanguage();
  const isList = check.kind === "tests" || check.kind === "notebook";
  const parts = isList ? check.message.split(language === "zh" ? "；" : "; ") : [check.message];
  return (
    <div style={{ maxWidth: "72ch", whiteSpace: "normal", overflowWrap: "anywhere" }}>
      {parts.map((part) => (
        <div key={part} className="prewrap">
          {part}
        </div>
      ))}
    </div>
  );
}

/** A grading: verdict, advice, checks, curve, stages with their output. */
export function AttemptView({ attempt }: { attempt: Attempt }) {
  const t = useTexts(submissionTexts);
  const going = attempt.state === "queued" || attempt.state === "running";
  return (
    <Flex vertical gap="middle" data-testid="attempt" data-state={attempt.state} data-verdict={attempt.verdict ?? ""}>
      {going ? <Going attempt={attempt} /> : <Ended attempt={attempt} />}
      {attempt.checks.length > 0 && (
        <Card size="small" title={t("checks")}>
          <DataList
            rows={attempt.checks}
            rowKey={(check) => `${check.kind}:${check.title}`}
            label={t("checks")}
            columns={[
              { key: "title", title: t("check"), render: (check) => check.title || check.kind },
              {
                key: "points",
                title: t("points"),
                render: (check) => <Points points={check.points} of={check.max_points} />,
              },
              {
                key: "message",
                title: t("message"),
                render: (check) => <Message check={check} />,
              },
            ]}
          />
        </Card>
      )}
      <Curve attempt={attempt.id} going={going} />
      <Stages jobs={attempt.jobs} />
      {attempt.staff_notes && (
        <Collapse
          items={[
            {
              key: "notes",
              label: t("staffNotes"),
              children: <pre className="prewrap">{JSON.stringify(attempt.staff_notes, null, 1)}</pre>,
            },
          ]}
        />
      )}
      {!going && attempt.verdict !== "accepted" && <Link to="/guide/debug">{t("guide")}</Link>}
    </Flex>
  );
}

function Going({ attempt }: { attempt: Attempt }) {
  const t = useTexts(submissionTexts);
  const { language } = useLanguage();
  const queue = attempt.queue;
  const parts = [
    queue?.ahead !== null && queue?.ahead !== undefined ? t("position", { n: queue.ahead }) : null,
    queue?.low !== null && queue?.low !== undefined
      ? t("startsIn", { low: Math.round(queue.low), high: Math.round(queue.high ?? queue.low) })
      : null,
    queue?.sentence || null,
  ].filter(Boolean);
  return (
    <Alert
      type="info"
      role="status"
      title={
        <Flex gap="small" align="center" wrap>
          <StateTag state={attempt.state} />
          {attempt.state === "running" && <span>{stageName(attempt.stage, language)}</span>}
          {parts.length > 0 && <span>{parts.join(" · ")}</span>}
          {attempt.retries > 0 && <span>{t("retrying", { n: attempt.retries })}</span>}
        </Flex>
      }
    />
  );
}

function Ended({ attempt }: { attempt: Attempt }) {
  const verdict = attempt.verdict ?? "";
  const type = verdict === "accepted" ? "success" : FAULTS.has(verdict) ? "warning" : "error";
  return (
    <Alert
      type={type}
      role="status"
      title={
        <Flex gap="small" align="center" wrap>
          <VerdictTag verdict={attempt.verdict} text={attempt.verdict_text} />
          <span style={{ fontSize: 20 }}>
            <Points points={attempt.points} of={attempt.max_points} />
          </span>
        </Flex>
      }
      description={
        <>
          {attempt.advice && (
            <Typography.Paragraph style={{ margin: 0 }} className="prewrap">
              {attempt.advice}
            </Typography.Paragraph>
          )}
          {attempt.findings.length > 0 && (
            <ul style={{ margin: "8px 0 0", paddingInlineStart: 20 }}>
              {attempt.findings.map((finding) => (
                <li key={finding}>
                  <code className="prewrap">{finding}</code>
                </li>
              ))}
            </ul>
          )}
        </>
      }
    />
  );
}
