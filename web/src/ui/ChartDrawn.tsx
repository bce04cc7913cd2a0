import { theme } from "antd";
import { BarChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { type EChartsType, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";
import type { ChartProps } from "./Chart";

use([BarChart, LineChart, GridComponent, LegendComponent, TooltipComponent, CanvasRenderer]);

export default function ChartDrawn({ title, series, x, y, right, height = 240, letters = 12, summary }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | null>(null);
  const { token } = theme.useToken();

  useEffect(() => {
    if (!place.current) return undefined;
    const made = init(place.current);
    chart.current = made;
    const watcher = new ResizeObserver(() => made.resize());
    watcher.observe(place.current);
    return () => {
      watcher.disconnect();
      made.dispose();
    };
  }, []);

  useEffect(() => {
    const words = { color: token.colorTextSecondary, fontSize: letters };
    const lines = { lineStyle: { color: token.colorBorderSecondary } };
    const axis = (of: ChartProps["y"]) => ({
      type: "value",
      scale: true,
      name: of?.name,
      min: of?.min,
      max: of?.max,
      nameTextStyle: words,
      axisLabel: { ...words, formatter: of?.format },
      splitLine: lines,
    });
    const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    chart.current?.setOption(
      {
        animation: !reduced,
        color: [token.colorPrimary, token.colorWarning, token.colorSuccess, token.colorError, token.colorInfo],
        grid: { left: 8, right: 8, top: letters * 3, bottom: x?.name ? letters * 2.5 : 8, containLabel: true },
        legend: { show: series.length > 1, textStyle: words, type: "scroll", top: 0 },
        tooltip: {
          trigger: "axis",
          renderMode: "richText",
          backgroundColor: token.colorBgElevated,
          textStyle: { color: token.colorText },
        },
        xAxis: {
          type: x?.kind ?? "value",
          name: x?.name,
          nameLocation: "middle",
          nameGap: letters * 2.2,
          nameTextStyle: words,
          scale: true,
          axisLabel: { ...words, formatter: x?.format, hideOverlap: true },
          splitLine: { show: false },
        },
        yAxis: right ? [axis(y), { ...axis(right), splitLine: { show: false } }] : axis(y),
        series: series.map((one) => ({
          name: one.name,
          type: one.kind ?? "line",
          data: one.points,
          yAxisIndex: one.right && right ? 1 : 0,
          showSymbol: one.points.length < 40,
          lineStyle: { width: letters / 6 },
          sampling: "lttb",
        })),
      },
      { notMerge: true },
    );
  }, [series, x, y, right, letters, token]);

  return (
    <figure style={{ margin: 0 }}>
      <div ref={place} role="img" aria-label={`${title}. ${summary}`} style={{ width: "100%", height }} />
    </figure>
  );
}
