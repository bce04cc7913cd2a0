import { Card, Flex, Segmented, Typography } from "antd";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { JobLog } from "@/ui/JobLog";
import { jobTexts } from "./texts";

type Stream = "stdout" | "stderr";

/** What a job prints, followed as it does; of an earlier run, too. */
export function JobOutput({ job }: { job: Schemas["Job"] }) {
  const t = useTexts(jobTexts);
  const [stream, setStream] = useState<Stream>("stdout");
  const [chosen, setRun] = useState<number | null>(null);
  const run = chosen ?? job.run;
  if (job.run === 0)
    return (
      <Card size="small" title={t("output")}>
        <Typography.Text type="secondary">{t("notBegun")}</Typography.Text>
      </Card>
    );
  return (
    <Card size="small" title={t("output")}>
      <Flex vertical gap="small">
        <Flex wrap gap="small">
          <Segmented
            aria-label={t("stream")}
            value={stream}
            onChange={(value: Stream) => setStream(value)}
            options={[
              { value: "stdout", label: t("stdout") },
              { value: "stderr", label: t("stderr") },
            ]}
          />
          {job.runs.length > 1 && (
            <Segmented
              aria-label={t("runs")}
              value={run}
              onChange={(value: number) => setRun(value)}
              options={job.runs.map(({ number }) => ({ value: number, label: t("runNumber", { n: number }) }))}
            />
          )}
        </Flex>
        <JobLog
          key={`${run}:${stream}`}
          job={job.id}
          run={run}
          stream={stream}
          height={420}
          label={t("outputOf", { name: job.name, stream: t(stream) })}
        />
      </Flex>
    </Card>
  );
}
