import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Card, Flex, Tag, Typography } from "antd";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Page } from "@/ui/Page";
import { LabDates } from "./LabDates";
import { LabExtensions } from "./LabExtensions";
import { LabRegrades } from "./LabRegrades";
import { PublishLab } from "./PublishLab";
import { Visible } from "./TeachLabs";
import { teachTexts } from "./texts";

type Lab = Schemas["Lab"];

/** One lab as its teacher runs it: prepared or not, dates, extensions, regrades, a new version. */
export default function TeachLab() {
  const t = useTexts(teachTexts);
  const { language } = useLanguage();
  const { cohort = "", lab = "" } = useParams();
  const queries = useQueryClient();
  const key = ["lab", cohort, lab, "staff"];
  const found = useQuery({
    queryKey: key,
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs/{lab}", { params: { path: { cohort, lab } } })),
    refetchInterval: (query) => (query.state.data?.readiness?.prepared === false ? 5000 : false),
  });
  useLive([`cohort:${cohort}`, `staff:${cohort}`], (event) => {
    if (event.kind === "lab" || event.kind === "dates") void queries.invalidateQueries({ queryKey: ["lab", cohort] });
    if (event.kind === "dates") void queries.invalidateQueries({ queryKey: ["extensions", cohort] });
  });
  const title = found.data ? either(found.data.title, found.data.title_en, language) : lab;
  return (
    <Page title={title} above={<Link to={`/c/${cohort}/teach/labs`}>{t("title")}</Link>}>
      <Answer of={found}>
        {(row) => (
          <>
            <About lab={row} />
            <LabDates key={`${row.opens_at} ${row.due_at} ${row.locks_at}`} lab={row} />
            <LabExtensions lab={row} />
            <LabRegrades cohort={cohort} lab={lab} />
            <PublishLab cohort={cohort} known={[lab]} slug={lab} />
          </>
        )}
      </Answer>
    </Page>
  );
}

interface Readiness {
  prepared?: boolean;
  prepare_jobs?: { id: string; state: string }[];
  references?: { node: string; state: string }[];
}

const COLOURS: Record<string, string> = { done: "success", failed: "error", running: "processing" };
const STATES = ["wanted", "running", "done", "failed"] as const;

function About({ lab }: { lab: Lab }) {
  const t = useTexts(teachTexts);
  const ready = (lab.readiness ?? {}) as Readiness;
  const base = `/c/${lab.cohort}`;
  const last = ready.prepare_jobs?.at(-1);
  return (
    <Card size="small">
      <Flex wrap gap="middle" align="center">
        <Visible lab={lab} />
        {ready.prepared !== undefined && (
          <Tag color={ready.prepared ? "success" : "warning"}>{t(ready.prepared ? "prepared" : "notPrepared")}</Tag>
        )}
        {last && !ready.prepared && <Link to={`/jobs/${last.id}`}>{t("job")}</Link>}
        {ready.references?.map((one) => {
          const state = STATES.find((known) => known === one.state);
          return (
            <Tag key={one.node} color={COLOURS[one.state] ?? "default"}>
              {t("reference", { node: one.node, state: state ? t(state) : one.state })}
            </Tag>
          );
        })}
        <Typography.Text type="secondary">
          {t("version")} <code>{lab.version}</code>
        </Typography.Text>
        <Link to={`${base}/labs/${lab.slug}`}>{t("student")}</Link>
        <Link to={`${base}/labs/${lab.slug}/board`}>{t("board")}</Link>
        <Link to={`${base}/submissions?lab=${lab.slug}`}>{t("handIns")}</Link>
      </Flex>
    </Card>
  );
}
