import { Card, Collapse, Flex, Typography } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { JobLog } from "@/ui/JobLog";
import { StateTag } from "@/ui/tags";
import { stageName } from "./stageName";
import { submissionTexts } from "./texts";

type Stage = Schemas["AttemptJob"];

/** The stages of a grading; one whose output may be read opens to follow it. */
export function Stages({ jobs }: { jobs: readonly Stage[] }) {
  const t = useTexts(submissionTexts);
  const { language } = useLanguage();
  if (jobs.length === 0) return null;
  const going = jobs.find((job) => job.output && job.state === "RUNNING");
  return (
    <Card size="small" title={t("stages")}>
      <Collapse
        destroyOnHidden
        key={going?.id}
        defaultActiveKey={going?.id}
        items={jobs.map((job) => ({
          key: job.id,
          collapsible: job.output ? undefined : "disabled",
          showArrow: job.output,
          label: <StageLine stage={job} />,
          children: job.output && (
            <Flex vertical gap="small">
              <JobLog job={job.id} label={t("outputOf", { name: stageName(job.name, language) })} />
              <Link to={`/jobs/${job.id}`}>{t("useOf")}</Link>
            </Flex>
          ),
        }))}
      />
    </Card>
  );
}

function StageLine({ stage }: { stage: Stage }) {
  const t = useTexts(submissionTexts);
  const { language } = useLanguage();
  const took = stage.started_at && stage.ended_at && (Date.parse(stage.ended_at) - Date.parse(stage.started_at)) / 1000;
  return (
    <Flex gap="small" align="center" wrap>
      <Typography.Text strong>{stageName(stage.name, language)}</Typography.Text>
      <StateTag state={stage.state} />
      {took && <Typography.Text>{t("seconds", { n: took.toFixed(1) })}</Typography.Text>}
      {!stage.output && <Typography.Text type="secondary">{t("forStaff")}</Typography.Text>}
    </Flex>
  );
}
