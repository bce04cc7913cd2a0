import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Flex, Typography } from "antd";
import { useState } from "react";
import { Link } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { AskDialog } from "@/pages/inquiries/AskDialog";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Page } from "@/ui/Page";
import { Points, plain, VerdictTag } from "@/ui/tags";
import { howOf } from "./how";
import { gradeTexts } from "./texts";

type Grade = Schemas["Grade"];

/** One's own grades by cohort, each with how it came about. */
export default function MyGrades() {
  const t = useTexts(gradeTexts);
  const me = useMe();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<Grade | null>(null);
  const grades = useQuery({ queryKey: ["grades"], queryFn: () => body(api.GET("/api/grades")) });
  useLive(["me"], (event) => {
    if (event.kind === "grade" || event.kind === "inquiry") void queries.invalidateQueries({ queryKey: ["grades"] });
  });
  return (
    <Page title={t("title")}>
      <Answer of={grades} empty={t("none")}>
        {(rows) =>
          [...new Set(rows.map((row) => row.cohort))].map((cohort) => {
            const mine = me.cohorts.find((one) => one.cohort === cohort);
            return (
              <OfCohort
                key={cohort}
                cohort={cohort}
                title={mine?.title ?? cohort}
                rows={rows.filter((row) => row.cohort === cohort)}
                onAsk={mine?.role === "student" && mine.state === "active" ? setAsking : undefined}
              />
            );
          })
        }
      </Answer>
      {asking && (
        <AskDialog cohort={asking.cohort} lab={asking.lab} title={asking.title} onClose={() => setAsking(null)} />
      )}
    </Page>
  );
}

interface OfCohortProps {
  cohort: string;
  title: string;
  rows: Grade[];
  onAsk?: (grade: Grade) => void;
}

function OfCohort({ cohort, title, rows, onAsk }: OfCohortProps) {
  const t = useTexts(gradeTexts);
  const total = rows.reduce((sum, row) => sum + (row.points ?? 0), 0);
  return (
    <section>
      <Flex wrap justify="space-between" align="center" gap="small">
        <Typography.Title level={2} style={{ fontSize: 18 }}>
          {title}
        </Typography.Title>
        <Flex gap="middle" wrap>
          <span>{t("total", { n: plain(total) })}</span>
          {onAsk && <Link to={`/c/${cohort}/inquiries`}>{t("all")}</Link>}
        </Flex>
      </Flex>
      <DataList
        rows={rows}
        rowKey={(row) => row.lab}
        label={title}
        columns={[
          {
            key: "lab",
            title: t("lab"),
            render: (row) => <Link to={`/c/${cohort}/labs/${row.lab}`}>{row.title}</Link>,
          },
          {
            key: "result",
            title: t("result"),
            render: (row) => <VerdictTag verdict={row.verdict} text={row.verdict_text} />,
          },
          { key: "points", title: t("points"), render: (row) => <Points points={row.points} of={row.max_points} /> },
          { key: "how", title: t("how"), render: (row) => <How grade={row} /> },
          {
            key: "act",
            title: t("acts"),
            render: (row) => (
              <Flex gap="small" wrap align="center">
                {row.attempt && <Link to={`/attempts/${row.attempt}`}>{t("attempt")}</Link>}
                {row.inquiry && <Link to={`/c/${cohort}/inquiries/${row.inquiry}`}>{t("asked")}</Link>}
                {onAsk && row.points !== null && (
                  <Button size="small" aria-label={t("askOf", { lab: row.title })} onClick={() => onAsk(row)}>
                    {t("ask")}
                  </Button>
                )}
              </Flex>
            ),
          },
        ]}
      />
    </section>
  );
}

function How({ grade }: { grade: Grade }) {
  const t = useTexts(gradeTexts);
  const told = howOf(grade, t);
  if (told.length === 0) return <span>—</span>;
  return (
    <div style={{ maxWidth: 480, whiteSpace: "normal" }}>
      {told.map((one) => (
        <div key={one} style={{ overflowWrap: "anywhere" }}>
          {one}
        </div>
      ))}
    </div>
  );
}
