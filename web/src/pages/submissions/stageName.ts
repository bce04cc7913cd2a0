import { type Language, type Pair, say } from "@/i18n";

const NAMES: Readonly<Record<string, Pair>> = {
  train: ["训练", "training"],
  predict: ["预测", "predicting"],
  judge: ["评判", "judging"],
  style: ["代码风格", "style"],
  tests: ["测试", "tests"],
  notebook: ["Notebook", "notebook"],
};

/** What people call a stage of a grading; a repeated one keeps what tells it apart (`train-2`). */
export function stageName(name: string, language: Language): string {
  const [, base = "", rest = ""] = /^([a-z]+)(.*)$/.exec(name) ?? [];
  const pair = NAMES[base];
  return pair ? say(pair, language) + rest : name;
}
