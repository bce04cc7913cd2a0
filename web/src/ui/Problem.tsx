import { Alert, Button, Flex } from "antd";
import { Link } from "react-router";
import { ApiError } from "@/api/client";
import { useTexts } from "@/i18n";
import { guideFor } from "./guide";
import { uiTexts } from "./texts";

/** A refusal: what happened, what to do, and where the guide says more. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useTexts(uiTexts);
  const told = error instanceof ApiError ? error : null;
  const guide = told && guideFor(told);
  return (
    <Alert
      type="error"
      showIcon
      role="alert"
      title={told?.message ?? t("unknownError")}
      description={
        <Flex vertical>
          {told?.hint ?? (told ? null : String(error))}
          {guide && <Link to={`/guide/${guide}`}>{t("inGuide")}</Link>}
        </Flex>
      }
      action={retry && <Button onClick={retry}>{t("retry")}</Button>}
    />
  );
}
