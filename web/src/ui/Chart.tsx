import { Skeleton } from "antd";
import { lazy, Suspense } from "react";

const Drawn = lazy(() => import("./ChartDrawn"));

export interface Series {
  name: string;
  /** [x, y]; a gap where y is null */
  points: readonly (readonly [x: number, y: number | null])[];
  kind?: "line" | "bar";
  /** Against the axis at the right. */
  right?: boolean;
}

export interface ChartProps {
  title: string;
  series: readonly Series[];
  x?: { name?: string; kind?: "value" | "time"; format?: (x: number) => string };
  y?: { name?: string; format?: (y: number) => string; min?: number; max?: number };
  right?: { name?: string; format?: (y: number) => string; min?: number; max?: number };
  height?: number;
  /** Letters of so many pixels, for a picture that is seen from afar. */
  letters?: number;
  /** What the picture says, in a sentence, for those who do not see it. */
  summary: string;
}

/** A picture of numbers. */
export function Chart(props: ChartProps) {
  return (
    <Suspense fallback={<Skeleton.Node active style={{ width: "100%", height: props.height ?? 240 }} />}>
      <Drawn {...props} />
    </Suspense>
  );
}
