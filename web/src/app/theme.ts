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

/** Contrast of at least 4.5 : 1 for text in both. */
export function themeOf(isDark: boolean): ThemeConfig {
  return {
    algorithm: isDark ? antd.darkAlgorithm : antd.defaultAlgorithm,
    token: {
      colorPrimary: isDark ? "#4d8dff" : "#0b57d0",
      colorLink: isDark ? "#7fb0ff" : "#0b57d0",
      colorTextSecondary: isDark ? "rgba(255,255,255,0.72)" : "rgba(0,0,0,0.66)",
      colorTextDescription: isDark ? "rgba(255,255,255,0.72)" : "rgba(0,0,0,0.66)",
      colorTextPlaceholder: isDark ? "rgba(255,255,255,0.6)" : "rgba(0,0,0,0.6)",
      borderRadius: 8,
      fontSize: 15,
      controlHeight: 40,
    },
  };
}
