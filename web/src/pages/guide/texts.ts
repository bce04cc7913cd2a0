import { defineTexts } from "@/i18n";

export const guideTexts = defineTexts({
  guide: ["指南", "Guide"],
  pages: ["指南的各页", "Pages of the guide"],
  start: ["从这里开始", "Start here"],
  "hand-in": ["第一次提交", "Your first hand-in"],
  "no-gpu": ["没有显卡怎么办", "Without a graphics card"],
  cards: ["怎样用到显卡", "How to get a card"],
  debug: ["排错清单", "Debug list"],
});
