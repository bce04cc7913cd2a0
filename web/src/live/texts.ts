import { defineTexts } from "@/i18n";

export const liveTexts = defineTexts({
  away: ["正在重新连接…", "reconnecting…"],
  asking: ["每 5 秒更新", "updated every 5 s"],
});
