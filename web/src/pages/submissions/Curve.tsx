import { useQuery } from "@tanstack/react-query";
import { Card } from "antd";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Chart } from "@/ui/Chart";
import { plain } from "@/ui/tags";
import { curvesOf } from "./curves";
import { submissionTexts } from "./texts";

interface Props {
  attempt: string;
  going: boolean;
  /** Of which of two. */
  of?: string;
}

/** The learning curve of a grading, where training wrote one. */
export function Curve({ attempt, going, of }: Props) {
  const t = useTexts(submissionTexts);
  const found = useQuery({
    queryKey: ["attempt", attempt, "metrics"],
    queryFn: () => body(api.GET("/api/attempts/{attempt_id}/metrics", { params: { path: { attempt_id: attempt } } })),
    refetchInterval: going ? 3000 : false,
  });
  useLive(going ? [`attempt:${attempt}`] : [], () => void found.refetch());
  const curves = curvesOf(found.data ?? []);
  if (curves.length === 0) return null;
  const title = of ? `${t("curve")} · ${of}` : t("curve");
  const summary = curves
    .map((one) => {
      const values = one.points.map(([, y]) => y).filter((y) => y !== null);
      return t("curveSays", { name: one.name, first: plain(values[0] ?? 0, 4), last: plain(values.at(-1) ?? 0, 4) });
    })
    .join("; ");
  return (
    <Card size="small" title={title}>
      <Chart
        title={title}
        series={curves}
        x={{ name: t("step") }}
        y={curves.length === 1 ? { name: curves[0]?.name } : undefined}
        right={curves.some((one) => one.right) ? {} : undefined}
        summary={summary}
      />
    </Card>
  );
}
