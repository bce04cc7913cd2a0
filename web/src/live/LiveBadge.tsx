import { Badge, Tag } from "antd";
import { useTexts } from "@/i18n";
import { liveTexts } from "./texts";
import { useLiveState } from "./useLive";

/** Says when the page is not live just now; nothing while it is. */
export function LiveBadge() {
  const t = useTexts(liveTexts);
  const state = useLiveState();
  if (state !== "away" && state !== "asking") return null;
  return (
    <Tag role="status" data-testid="live-badge" variant="filled">
      <Badge status={state === "away" ? "warning" : "processing"} text={t(state)} />
    </Tag>
  );
}
