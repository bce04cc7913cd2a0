import { Button, Result } from "antd";
import { useNavigate } from "react-router";
import { useTexts } from "@/i18n";
import { appTexts } from "./texts";

export function Missing() {
  const t = useTexts(appTexts);
  const go = useNavigate();
  return (
    <Result
      status="404"
      title={t("missing")}
      subTitle={t("missingHint")}
      extra={
        <Button type="primary" onClick={() => void go("/")}>
          {t("toHome")}
        </Button>
      }
    />
  );
}
