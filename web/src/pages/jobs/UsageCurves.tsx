import { useQuery } from "@tanstack/react-query";
import { Alert, Card, Flex, Typography } from "antd";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Chart, type Series } from "@/ui/Chart";
import { memory, plain } from "@/ui/tags";
import { jobTexts } from "./texts";
import { adviceOf, lineOf, mean, most, ofLastRun } from "./usage";

const EVERY = 10_000;

/** CPU, memory and cards of a job over time, looked at from outside. */
export function UsageCurves({ job, going }: { job: Schemas["Job"]; going: boolean }) {
  const t = useTexts(jobTexts);
  const found = useQuery({
    queryKey: ["job", job.id, "usage"],
    queryFn: () => body(api.GET("/api/jobs/{job_id}/usage", { params: { path: { job_id: job.id } } })),
    refetchInterval: going ? EVERY : false,
  });
  const samples = ofLastRun(found.data ?? []);
  const lines = [
    lineOf(samples, "cpu_percent", t("cpuLine")),
    lineOf(samples, "card_percent", t("cardLine")),
    lineOf(samples, "memory", t("memoryLine"), true),
    lineOf(samples, "card_memory", t("cardMemoryLine"), true),
  ].filter((line): line is Series => line !== null);
  const card = mean(samples, "card_percent");
  const rest = t("usageSays", {
    cpu: plain(mean(samples, "cpu_percent") ?? 0, 0),
    memory: memory(most(samples, "memory")),
  });
  const ofCards = card === null ? t("cardNotMeasured", { rest }) : t("usageSaysCard", { rest, n: plain(card, 0) });
  const summary = job.gpus > 0 ? ofCards : rest;
  return (
    <Card size="small" title={t("usage")} data-testid="usage">
      {lines.length === 0 ? (
        <Typography.Text type="secondary">{t("noUsage")}</Typography.Text>
      ) : (
        <Flex vertical gap="small">
          <Chart
            title={t("usage")}
            series={lines}
            x={{ name: t("seconds") }}
            y={{ min: 0 }}
            right={lines.some((line) => line.right) ? { min: 0 } : undefined}
            summary={summary}
          />
          <Typography.Text type="secondary">{summary}</Typography.Text>
          {adviceOf(samples, job).map((one) => (
            <Alert key={one.key} type="info" showIcon title={t(one.key, one.values)} />
          ))}
        </Flex>
      )}
    </Card>
  );
}
