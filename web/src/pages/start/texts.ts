import { defineTexts } from "@/i18n";

export const startTexts = defineTexts({
  title: ["第一步", "First steps"],
  lead: [
    "上第一堂课以前，从上到下做一遍；做完的会自己打勾。",
    "Before the first class, from top to bottom; what is done ticks itself off.",
  ],
  left: ["还有 {n} 步要做", "{n} steps to do"],
  ready: ["可以上课了", "Ready for the class"],
  done: ["完成", "done"],
  todo: ["待做", "to do"],
  look: ["请看一眼", "have a look"],
  open: ["打开：{step}", "Open: {step}"],
  go: ["打开", "Open"],
  more: ["更多", "More"],
  nodes: ["机器与评分：谁在用哪张卡", "Machines and grading: who uses which card"],
  screen: ["教室投屏", "The projector of the room"],
  guide: ["给学生的指南", "The guide for students"],
});
