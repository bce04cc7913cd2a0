import { Alert } from "antd";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { useNow } from "@/ui/Moment";
import { isClosed } from "./closed";
import { labTexts } from "./texts";

interface Props {
  lab: Schemas["Lab"];
  /** For staff, who may hand in at any time. */
  always: boolean;
  children: ReactNode;
}

/** What can be done while a lab takes hand-ins; a notice once it is closed. */
export function WhileOpen({ lab, always, children }: Props) {
  const t = useTexts(labTexts);
  const now = useNow();
  if (always || !isClosed(lab, now)) return children;
  return <Alert type="info" showIcon title={t("closed")} description={t("closedHint")} />;
}
