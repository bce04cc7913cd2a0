import { Alert, Button } from "antd";
import { ApiError } from "@/api/client";
import { useTexts } from "@/i18n";
import { uiTexts } from "./texts";

/** A refusal: what happened, and what to do. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useTexts(uiTexts);
  const told = error instanceof ApiError ? error : null;
  return (
    <Alert
      type="error"
      showIcon
      role="alert"
      title={told?.message ?? t("unknownError")}
      description={told?.hint ?? (told ? undefined : String(error))}
      action={retry && <Button onClick={retry}>{t("retry")}</Button>}
    />
  );
}
