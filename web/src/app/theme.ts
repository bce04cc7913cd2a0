import { theme as antd, type ThemeConfig } from "antd";
import { createContext, useContext } from "react";

/** `system`: as the machine is set. */
export type Look = "system" | "light" | "dark";

export interface LookChoice {
  look: Look;
  isDark: boolean;
  choose: (look: Look) => void;
}

export const LookContext = createContext<LookChoice>({ look: "system", isDark: false, choose: () => undefined });

export function useLook(): LookChoice {
  return useContext(LookContext);
}

const KEPT = "qianka.look";

export function firstLook(): Look {
  const kept = localStorage.getItem(KEPT);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function keepLook(look: Look): void {
  localStorage.setItem(KEPT, look);
}

/** Colours that words stand in, on a tint of the same colour. */
const SAID: ThemeConfig["token"] = {
  colorSuccess: "#187a2f",
  colorSuccessBg: "#edf9ef",
  colorSuccessBorder: "#a9d8b2",
  colorWarning: "#925400",
  colorWarningBg: "#fff7e6",
  colorWarningBorder: "#f0cf96",
  colorError: "#c5221f",
  colorErrorBg: "#fff1f0",
  colorErrorBorder: "#f3b4b1",
  colorInfo: "#0b57d0",
  colorInfoBg: "#ecf3ff",
  colorInfoBorder: "#a9c7f7",
};

/** Contrast of at least 4.5 : 1 for text in both. */
export function themeOf(isDark: boolean): ThemeConfig {
  return {
    algorithm: isDark ? antd.darkAlgorithm : antd.defaultAlgorithm,
    token: {
      colorPrimary: isDark ? "#4d8dff" : "#0b57d0",
      colorLink: isDark ? "#7fb0ff" : "#0b57d0",
      ...(isDark ? { colorInfo: "#7fb0ff", colorError: "#f26d6d" } : SAID),
      colorTextTertiary: isDark ? "rgba(255,255,255,0.66)" : "rgba(0,0,0,0.62)",
      colorTextSecondary: isDark ? "rgba(255,255,255,0.72)" : "rgba(0,0,0,0.66)",
      colorTextDescription: isDark ? "rgba(255,255,255,0.72)" : "rgba(0,0,0,0.66)",
      colorTextPlaceholder: isDark ? "rgba(255,255,255,0.6)" : "rgba(0,0,0,0.6)",
      borderRadius: 8,
      fontSize: 15,
      controlHeight: 40,
    },
    components: isDark
      ? { Button: { primaryColor: "#00081a", dangerColor: "#1a0000" }, Menu: { itemSelectedColor: "#b5d0ff" } }
      : {},
  };
}
