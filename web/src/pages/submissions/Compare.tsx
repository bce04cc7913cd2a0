import { useQuery } from "@tanstack/react-query";
import { Button, Card, Empty, Flex, Tag, theme } from "antd";
import { Link, useParams, useSearchParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Page } from "@/ui/Page";
import { Points, VerdictTag } from "@/ui/tags";
import { Curve } from "./Curve";
import { submissionTexts } from "./texts";

/** Two gradings of one lab side by side. */
export default function Compare() {
  const t = useTexts(submissionTexts);
  const { language } = useLanguage();
  const { cohort = "" } = useParams();
  const [search] = useSearchParams();
  const a = search.get("a") ?? "";
  const b = search.get("b") ?? "";
  const found = useQuery({
    queryKey: ["compare", a, b, language],
    enabled: a !== "" && b !== "",
    queryFn: () =>
      body(api.GET("/api/attempts/{attempt_id}/compare/{other}", { params: { path: { attempt_id: a, other: b } } })),
  });
  return (
    <Page title={t("compareTitle")} above={<Link to={`/c/${cohort}/submissions`}>{t("submissions")}</Link>}>
      {a === "" || b === "" ? (
        <Empty description={t("chooseTwo")}>
          <Link to={`/c/${cohort}/submissions`}>
            <Button>{t("toList")}</Button>
          </Link>
        </Empty>
      ) : (
        <Answer of={found}>{(both) => <Both both={both} />}</Answer>
      )}
    </Page>
  );
}

function Both({ both }: { both: Schemas["Comparison"] }) {
  const t = useTexts(submissionTexts);
  const { a, b } = both;
  const kinds = [...new Set([...a.checks, ...b.checks].map((check) => check.title || check.kind))];
  const points = (of: Schemas["Attempt"], title: string) => {
    const check = of.checks.find((one) => (one.title || one.kind) === title);
    return (
      <>
        <Points points={check?.points} of={check?.max_points} />
        <div style={{ maxWidth: "40ch", whiteSpace: "normal" }}>{check?.message}</div>
      </>
    );
  };
  const who = (of: Schemas["Attempt"]) => {
    const submission = both.submissions.find((one) => one.id === of.submission);
    return <Link to={`/attempts/${of.id}`}>{submission ? `${submission.name} (${submission.login})` : of.id}</Link>;
  };
  const rows = [
    { key: "who", title: t("person"), a: who(a), b: who(b) },
    {
      key: "verdict",
      title: t("verdict"),
      a: <VerdictTag verdict={a.verdict} text={a.verdict_text} />,
      b: <VerdictTag verdict={b.verdict} text={b.verdict_text} />,
    },
    {
      key: "points",
      title: t("points"),
      a: <Points points={a.points} of={a.max_points} />,
      b: <Points points={b.points} of={b.max_points} />,
    },
    ...kinds.map((title) => ({ key: title, title, a: points(a, title), b: points(b, title) })),
  ];
  return (
    <Flex vertical gap="middle">
      <DataList
        rows={rows}
        rowKey={(row) => row.key}
        label={t("compareTitle")}
        columns={[
          { key: "title", title: t("figure"), render: (row) => row.title },
          { key: "a", title: t("first"), render: (row) => row.a },
          { key: "b", title: t("second"), render: (row) => row.b },
        ]}
      />
      <Curve attempt={a.id} going={false} of={t("first")} />
      <Curve attempt={b.id} going={false} of={t("second")} />
      <Card size="small" title={t("codeDiff")}>
        {both.files.length === 0 ? t("sameCode") : both.files.map((file) => <FileDiff key={file.path} file={file} />)}
      </Card>
    </Flex>
  );
}

function FileDiff({ file }: { file: Schemas["FileDifference"] }) {
  const t = useTexts(submissionTexts);
  const { token } = theme.useToken();
  const lines = file.diff?.split("\n") ?? [];
  const colour = (line: string) =>
    line.startsWith("+") ? token.colorSuccessBg : line.startsWith("-") ? token.colorErrorBg : undefined;
  return (
    <section aria-label={file.path}>
      <Flex gap="small" align="center">
        <code>{file.path}</code>
        <Tag>{t(file.what as "added" | "removed" | "changed")}</Tag>
      </Flex>
      {file.diff === null ? (
        <p>{t("notText")}</p>
      ) : (
        <pre
          style={{ overflow: "auto", maxHeight: 480, fontSize: 13 }}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
          tabIndex={0}
        >
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
            <div key={index} style={{ background: colour(line) }}>
              {line || " "}
            </div>
          ))}
        </pre>
      )}
    </section>
  );
}
