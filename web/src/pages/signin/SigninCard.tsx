import { Button, Card, Flex, Typography } from "antd";
import { type ReactNode, useEffect } from "react";
import { useLook } from "@/app/theme";
import { useLanguage, useTexts } from "@/i18n";
import "./signin.css";
import { signinTexts } from "./texts";

/** What stands around the pages before signing in. */
export function SigninCard({ title, children }: { title: string; children: ReactNode }) {
  const t = useTexts(signinTexts);
  const { language, choose } = useLanguage();
  const look = useLook();
  useEffect(() => {
    document.title = `${title} · 千卡 Qianka`;
  }, [title]);
  return (
    <main className={look.isDark ? "signin dark" : "signin"}>
      <Card className="signin-card">
        <Flex justify="space-between" align="start" gap="small">
          <div>
            <Typography.Title level={1} style={{ fontSize: 24, margin: 0 }}>
              千卡 Qianka
            </Typography.Title>
            <Typography.Text type="secondary">{t("tagline")}</Typography.Text>
          </div>
          <Flex>
            <Button type="text" onClick={() => choose(language === "zh" ? "en" : "zh")}>
              {t("language")}
            </Button>
            <Button
              type="text"
              aria-label={t("lookSwitch")}
              onClick={() => look.choose(look.isDark ? "light" : "dark")}
            >
              ◐
            </Button>
          </Flex>
        </Flex>
        <Typography.Title level={2} style={{ fontSize: 18 }}>
          {title}
        </Typography.Title>
        {children}
      </Card>
    </main>
  );
}
