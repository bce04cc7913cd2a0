import { Button, Result } from "antd";
import { useRouteError } from "react-router";
import { useTexts } from "@/i18n";
import { appTexts } from "./texts";

/** A page that failed, or whose code is no longer there since the platform was updated meanwhile. */
export function Crash() {
  const t = useTexts(appTexts);
  const error = useRouteError();
  const text = error instanceof Error ? error.message : String(error);
  const isOld = /dynamically imported module|module script failed/i.test(text);
  return (
    <Result
      status={isOld ? "info" : "error"}
      title={t(isOld ? "newVersion" : "crash")}
      subTitle={isOld ? undefined : t("crashHint")}
      extra={
        <Button type="primary" onClick={() => location.reload()}>
          {t("reload")}
        </Button>
      }
    >
      {!isOld && <code>{text}</code>}
    </Result>
  );
}
