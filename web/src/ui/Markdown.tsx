import { Skeleton } from "antd";
import { lazy, Suspense } from "react";

const Rendered = lazy(() => import("./MarkdownRendered"));

interface Props {
  text: string;
  /** Where the pictures and links of the text lie; a relative address is resolved against it. */
  base?: string;
}

/** Markdown with code and mathematics; HTML inside of it is shown as text. */
export function Markdown(props: Props) {
  return (
    <Suspense fallback={<Skeleton active />}>
      <Rendered {...props} />
    </Suspense>
  );
}
