import { QueryClientProvider } from "@tanstack/react-query";
import { App as AntApp, ConfigProvider } from "antd";
import enUS from "antd/locale/en_US";
import zhCN from "antd/locale/zh_CN";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { RouterProvider } from "react-router";
import { session } from "@/api/client";
import { queries } from "@/api/query";
import { firstLanguage, keepLanguage, type Language, LanguageContext } from "@/i18n";
import { nonce } from "./nonce";
import { router } from "./routes";
import { firstLook, keepLook, type Look, LookContext, themeOf } from "./theme";

const dark = matchMedia("(prefers-color-scheme: dark)");

function useSystemDark(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      dark.addEventListener("change", watcher);
      return () => dark.removeEventListener("change", watcher);
    },
    () => dark.matches,
  );
}

const FIRST = firstLanguage();
session.language = FIRST;

export function App() {
  const [language, setLanguage] = useState<Language>(FIRST);
  const [look, setLook] = useState<Look>(firstLook);
  const systemDark = useSystemDark();
  const isDark = look === "system" ? systemDark : look === "dark";

  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  }, [language]);
  useEffect(() => {
    document.documentElement.dataset.look = isDark ? "dark" : "light";
  }, [isDark]);

  const languages = useMemo(
    () => ({
      language,
      choose: (chosen: Language) => {
        keepLanguage(chosen);
        session.language = chosen;
        setLanguage(chosen);
        void queries.invalidateQueries(); // sentences of the server come in the language of the question
      },
    }),
    [language],
  );
  const looks = useMemo(
    () => ({
      look,
      isDark,
      choose: (chosen: Look) => {
        keepLook(chosen);
        setLook(chosen);
      },
    }),
    [look, isDark],
  );
  return (
    <LanguageContext value={languages}>
      <LookContext value={looks}>
        <ConfigProvider
          theme={themeOf(isDark)}
          locale={language === "zh" ? zhCN : enUS}
          button={{ autoInsertSpace: false }}
          csp={nonce ? { nonce } : undefined}
        >
          <AntApp>
            <QueryClientProvider client={queries}>
              <RouterProvider router={router} />
            </QueryClientProvider>
          </AntApp>
        </ConfigProvider>
      </LookContext>
    </LanguageContext>
  );
}
