/** A browser and system out of a user agent, as people say it; null when neither is known. */
export function deviceOf(agent: string): string | null {
  const browser = [
    ["MicroMessenger", "WeChat"],
    ["Edg", "Edge"],
    ["OPR", "Opera"],
    ["Firefox", "Firefox"],
    ["Chrome", "Chrome"],
    ["Safari", "Safari"],
  ].find(([sign]) => agent.includes(`${sign}/`))?.[1];
  const system = [
    ["Android", "Android"],
    ["iPhone", "iPhone"],
    ["iPad", "iPad"],
    ["HarmonyOS", "HarmonyOS"],
    ["Windows", "Windows"],
    ["Mac OS X", "macOS"],
    ["Linux", "Linux"],
  ].find(([sign]) => agent.includes(sign as string))?.[1];
  return [browser, system].filter(Boolean).join(" · ") || null;
}
