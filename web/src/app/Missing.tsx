import { Button, Result } from "antd";
import { Link } from "react-router";
import { useTexts } from "@/i18n";
import { appTexts } from "./texts";

export function Missing() {
  const t = useTexts(appTexts);
  return (
    <Result
      status="404"
      title={t("missing")}
      subTitle={t("missingHint")}
      extra={
        <Link to="/">
          <Button type="primary">{t("toHome")}</Button>
        </Link>
      }
    />
  );
}
