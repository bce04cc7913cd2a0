import { Alert, Card, Collapse, Flex, Typography } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { Points, StateTag, VerdictTag } from "@/ui/tags";
import { Curve } from "./Curve";
import { Stages } from "./Stages";
import { submissionTexts } from "./texts";

type Attempt = Schemas["Attempt"];

const FAULTS = new Set(["infra_error", "not_run", "cancelled"]);

/** A grading: verdict, advice, checks, curve, stages with their output. */
export function AttemptView({ attempt, cohort }: { attempt: Attempt; cohort?: string }) {
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
                render: (check) => <span className="prewrap">{check.message}</span>,
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
      {!going && cohort && (
        <Flex gap="middle" wrap>
          <Link to="/guide/debug">{t("guide")}</Link>
          <Link to="/grades">{t("ask")}</Link>
        </Flex>
      )}
    </Flex>
  );
}

function Going({ attempt }: { attempt: Attempt }) {
  const t = useTexts(submissionTexts);
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
      title={<StateTag state={attempt.state} />}
      description={
        <>
          {parts.length > 0 && <div>{parts.join(" · ")}</div>}
          {attempt.retries > 0 && <div>{t("retrying", { n: attempt.retries })}</div>}
        </>
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
