import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Tag } from "antd";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Moment, useNow } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { PublishLab } from "./PublishLab";
import { teachTexts } from "./texts";

/** The labs of a cohort with their dates, and a place to publish one. */
export default function TeachLabs() {
  const t = useTexts(teachTexts);
  const { language } = useLanguage();
  const { cohort = "" } = useParams();
  const queries = useQueryClient();
  const labs = useQuery({
    queryKey: ["labs", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs", { params: { path: { cohort } } })),
  });
  useLive([`cohort:${cohort}`], (event) => {
    if (event.kind === "lab" || event.kind === "dates") void queries.invalidateQueries({ queryKey: ["labs", cohort] });
  });
  return (
    <Page title={t("title")}>
      <Answer of={labs} empty={t("none")}>
        {(rows) => (
          <DataList
            rows={rows}
            rowKey={(row) => row.slug}
            label={t("title")}
            columns={[
              {
                key: "lab",
                title: t("lab"),
                render: (row) => (
                  <Link to={`/c/${cohort}/teach/labs/${row.slug}`}>{either(row.title, row.title_en, language)}</Link>
                ),
              },
              { key: "state", title: t("state"), render: (row) => <Visible lab={row} /> },
              {
                key: "opens",
                title: t("opens"),
                render: (row) => (row.opens_at ? <Moment at={row.opens_at} zone={row.zone} /> : t("always")),
              },
              {
                key: "due",
                title: t("due"),
                render: (row) => (row.due_at ? <Moment at={row.due_at} zone={row.zone} countdown /> : t("noDue")),
              },
              { key: "version", title: t("version"), wideOnly: true, render: (row) => <code>{row.version}</code> },
            ]}
          />
        )}
      </Answer>
      <PublishLab cohort={cohort} known={labs.data?.map((lab) => lab.slug) ?? []} />
    </Page>
  );
}

/** Whether students see a lab. */
export function Visible({ lab }: { lab: Schemas["Lab"] }) {
  const t = useTexts(teachTexts);
  const now = useNow();
  const isHidden = lab.opens_at !== null && Date.parse(lab.opens_at) > now;
  return isHidden ? <Tag color="warning">{t("hidden")}</Tag> : <Tag color="success">{t("visible")}</Tag>;
}
