import { useQuery } from "@tanstack/react-query";
import { Card, Typography } from "antd";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { curvesOf } from "@/pages/submissions/curves";
import { Chart } from "@/ui/Chart";
import { plain } from "@/ui/tags";
import { jobTexts } from "./texts";

const EVERY = 5000;

/** What a job wrote to metrics.jsonl, as it grows. */
export function JobCurve({ job, going }: { job: string; going: boolean }) {
  const t = useTexts(jobTexts);
  const found = useQuery({
    queryKey: ["job", job, "metrics"],
    queryFn: () => body(api.GET("/api/jobs/{job_id}/metrics", { params: { path: { job_id: job } } })),
    refetchInterval: going ? EVERY : false,
    retry: false,
  });
  const curves = curvesOf(found.data ?? []);
  const summary = curves
    .map((one) => {
      const values = one.points.map(([, y]) => y).filter((y) => y !== null);
      return t("curveSays", { name: one.name, first: plain(values[0] ?? 0, 4), last: plain(values.at(-1) ?? 0, 4) });
    })
    .join("; ");
  return (
    <Card size="small" title={t("curve")} data-testid="curve">
      {curves.length === 0 ? (
        <Typography.Text type="secondary">{t("noCurve")}</Typography.Text>
      ) : (
        <Chart
          title={t("curve")}
          series={curves}
          x={{ name: t("step") }}
          y={curves.length === 1 ? { name: curves[0]?.name } : undefined}
          right={curves.some((one) => one.right) ? {} : undefined}
          summary={summary}
        />
      )}
    </Card>
  );
}
