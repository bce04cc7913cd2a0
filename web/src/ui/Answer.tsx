import type { UseQueryResult } from "@tanstack/react-query";
import { Empty, Skeleton } from "antd";
import type { ReactNode } from "react";
import { useTexts } from "@/i18n";
import { Problem } from "./Problem";
import { uiTexts } from "./texts";

interface Props<T> {
  of: UseQueryResult<T>;
  /** What stands there when the answer is empty: a sentence, with what to do. */
  empty?: ReactNode;
  isEmpty?: (data: T) => boolean;
  children: (data: T) => ReactNode;
}

/** What came of a question: loading, refused (with a way to ask again), empty, or the answer. */
export function Answer<T>({ of, empty, isEmpty, children }: Props<T>) {
  const t = useTexts(uiTexts);
  if (of.data !== undefined) {
    const nothing = isEmpty ? isEmpty(of.data) : Array.isArray(of.data) && of.data.length === 0;
    return nothing ? <Empty description={empty ?? t("nothing")} /> : children(of.data);
  }
  if (of.isError) return <Problem error={of.error} retry={() => void of.refetch()} />;
  return (
    <div role="status" aria-label={t("loading")}>
      <Skeleton active />
    </div>
  );
}
