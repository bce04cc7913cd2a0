import { useQuery } from "@tanstack/react-query";
import { Card, Flex, Tag, Typography } from "antd";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useMe } from "@/app/me";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { labTexts } from "./texts";

export default function LabList() {
  const t = useTexts(labTexts);
  const me = useMe();
  const { cohort = "" } = useParams();
  const labs = useQuery({
    queryKey: ["labs", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs", { params: { path: { cohort } } })),
  });
  useLive([`cohort:${cohort}`], (event) => {
    if (event.kind === "lab" || event.kind === "dates") void labs.refetch();
  });
  return (
    <Page title={t("labs")} above={me.cohorts.find((one) => one.cohort === cohort)?.title ?? cohort}>
      <Answer of={labs} empty={t("noLabs")}>
        {(rows) => (
          <Flex vertical gap="small" component="ul" style={{ padding: 0, margin: 0, listStyle: "none" }}>
            {rows.map((lab) => (
              <li key={lab.slug}>
                <LabCard lab={lab} />
              </li>
            ))}
          </Flex>
        )}
      </Answer>
    </Page>
  );
}

function LabCard({ lab }: { lab: Schemas["Lab"] }) {
  const t = useTexts(labTexts);
  const { language } = useLanguage();
  const due = lab.mine?.due_at ?? lab.due_at;
  const now = Date.now();
  return (
    <Card size="small">
      <Flex justify="space-between" wrap gap="small">
        <div>
          <Link to={`/c/${lab.cohort}/labs/${lab.slug}`}>
            <Typography.Text strong style={{ fontSize: 17, color: "inherit" }}>
              {either(lab.title, lab.title_en, language)}
            </Typography.Text>
          </Link>
          <div>
            <Typography.Text type="secondary" code>
              {lab.slug}
            </Typography.Text>
          </div>
        </div>
        <div>
          {lab.opens_at && Date.parse(lab.opens_at) > now && (
            <div>
              <Tag>{t("notYet")}</Tag>
              {t("opens")} <Moment at={lab.opens_at} zone={lab.zone} countdown />
            </div>
          )}
          <div>
            {due ? (
              <>
                {t("due")} <Moment at={due} zone={lab.zone} countdown />
              </>
            ) : (
              t("noDue")
            )}
          </div>
        </div>
      </Flex>
    </Card>
  );
}
