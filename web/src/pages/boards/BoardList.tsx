import { useQuery } from "@tanstack/react-query";
import { Button, Card, Tag } from "antd";
import { Link, useParams } from "react-router";
import { api, body } from "@/api/client";
import { isStaff, useMe } from "@/app/me";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { boardTexts } from "./texts";

export default function BoardList() {
  const t = useTexts(boardTexts);
  const { language } = useLanguage();
  const me = useMe();
  const { cohort = "" } = useParams();
  const path = { cohort };
  const boards = useQuery({
    queryKey: ["boards", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/boards", { params: { path } })),
  });
  const labs = useQuery({
    queryKey: ["labs", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs", { params: { path } })),
  });
  useLive([`cohort:${cohort}`], () => void labs.refetch());
  return (
    <Page
      title={t("boards")}
      above={cohort}
      extra={
        isStaff(me, cohort) && (
          <Link to={`/c/${cohort}/boards/new`}>
            <Button>{t("make")}</Button>
          </Link>
        )
      }
    >
      <Answer of={boards} empty={t("none")}>
        {(rows) => (
          <DataList
            rows={rows}
            rowKey={(row) => row.id}
            label={t("boards")}
            columns={[
              {
                key: "title",
                title: t("boards"),
                render: (row) => (
                  <Link to={`/c/${cohort}/boards/${row.slug}`}>{either(row.title, row.title_en, language)}</Link>
                ),
              },
              {
                key: "phase",
                title: "",
                render: (row) => <Tag>{t(row.phase as "unopened" | "open" | "closed" | "final")}</Tag>,
              },
              { key: "due", title: t("due"), render: (row) => <Moment at={row.due_at} zone={row.zone} countdown /> },
            ]}
          />
        )}
      </Answer>
      <Card size="small" title={t("ofLabs")}>
        <Answer of={labs} isEmpty={(rows) => rows.every((lab) => !ranks(lab.checks))} empty={t("none")}>
          {(rows) =>
            rows
              .filter((lab) => ranks(lab.checks))
              .map((lab) => (
                <p key={lab.slug}>
                  <Link to={`/c/${cohort}/labs/${lab.slug}/board`}>{either(lab.title, lab.title_en, language)}</Link>
                </p>
              ))
          }
        </Answer>
      </Card>
    </Page>
  );
}

function ranks(checks: readonly { kind: string }[]): boolean {
  return checks.some((check) => check.kind === "metric");
}
