/** As the grader names them (scikit-learn's words). */
export const METRICS = [
  "accuracy",
  "balanced_accuracy",
  "f1_macro",
  "f1_weighted",
  "cohen_kappa",
  "roc_auc",
  "log_loss",
  "mean_squared_error",
  "root_mean_squared_error",
  "mean_absolute_error",
  "r2",
] as const;

interface Rules {
  title: string;
  metric: string;
  /** The columns of the answers: the id, what is predicted, and perhaps `Usage`. */
  header: string[];
  /** Of the rows, on the public board. */
  share: number;
  aDay: number;
  selections: number;
  ladder: boolean;
}

/** A board.toml as `qianka board create` takes it. */
export function boardToml(rules: Rules): string {
  const usage = rules.header.some((name) => name.toLowerCase() === "usage");
  const [id = "id", column = "label"] = rules.header;
  return [
    `title = ${text(rules.title)}`,
    `metric = ${text(rules.metric)}`,
    "[predictions]",
    `id = ${text(id)}`,
    `column = ${text(column)}`,
    "[split]",
    usage ? 'with = "usage"' : `public = ${rules.share}`,
    "[limits]",
    `a_day = ${rules.aDay}`,
    "[final]",
    `selections = ${rules.selections}`,
    "[public]",
    `ladder = ${rules.ladder}`,
    "",
  ].join("\n");
}

/** JSON's strings are strings of TOML, but for the one character that JSON leaves bare. */
function text(value: string): string {
  return JSON.stringify(value).replace(/\u007f/g, "\\u007F");
}
