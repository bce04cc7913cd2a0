import { defineTexts } from "@/i18n";

export const gradeTexts = defineTexts({
  title: ["我的成绩", "My grades"],
  none: ["还没有成绩；交一次作业后会出现在这里", "No grades yet; they appear here once you have handed in"],
  lab: ["实验", "Lab"],
  result: ["结果", "Result"],
  points: ["得分", "Points"],
  how: ["怎么来的", "How it came about"],
  total: ["合计 {n} 分", "{n} points in all"],
  raw: ["评分 {n}", "graded {n}"],
  penalty: ["迟交 {d} 天扣 {n}", "{d} days late: −{n}"],
  lateDays: ["用了 {d} 个宽限日", "{d} late days spent"],
  override: ["教师改为 {n}：{why}", "set to {n}: {why}"],
  bonus: ["加分 {n}：{why}", "bonus {n}: {why}"],
  comment: ["评语：{text}", "comment: {text}"],
  attempt: ["看评分", "See the grading"],
  ask: ["询问", "Ask"],
  askOf: ["询问“{lab}”的成绩", "Ask about the grade of “{lab}”"],
  asked: ["我的询问", "My inquiry"],
  all: ["我的全部询问", "All my inquiries"],
  acts: ["操作", "Actions"],
});
