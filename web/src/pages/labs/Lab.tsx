import { DownloadOutlined, TrophyOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Card, Col, Flex, Row, Typography } from "antd";
import { Link, useParams } from "react-router";
import { api, body } from "@/api/client";
import { isStaff, useMe } from "@/app/me";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { MyGroup } from "@/pages/groups/MyGroup";
import { Answer } from "@/ui/Answer";
import { Markdown } from "@/ui/Markdown";
import { Page } from "@/ui/Page";
import { HandInBox } from "./HandInBox";
import { LabFacts } from "./LabFacts";
import { MyHandIns } from "./MyHandIns";
import { labTexts } from "./texts";
import { WhileOpen } from "./WhileOpen";

export default function Lab() {
  const t = useTexts(labTexts);
  const { language } = useLanguage();
  const me = useMe();
  const { cohort = "", lab = "" } = useParams();
  const path = { cohort, lab };
  const staff = isStaff(me, cohort);
  const found = useQuery({
    queryKey: ["lab", cohort, lab],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs/{lab}", { params: { path } })),
  });
  const mine = useQuery({
    queryKey: ["lab", cohort, lab, "mine"],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs/{lab}/submissions", { params: { path } })),
  });
  const handout = useQuery({
    queryKey: ["handout", cohort, lab, language],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs/{lab}/handout", { params: { path } })),
    staleTime: 600_000,
  });
  useLive(["me", `cohort:${cohort}`], (event) => {
    if (event.kind === "attempt" || event.kind === "grade") void mine.refetch();
    if (event.kind === "lab" || event.kind === "dates") void found.refetch();
  });
  if (!found.data)
    return (
      <Page title={t("labs")}>
        <Answer of={found}>{() => null}</Answer>
      </Page>
    );
  return (
    <Answer of={found}>
      {(shown) => (
        <Page
          title={either(shown.title, shown.title_en, language)}
          above={<Link to={`/c/${cohort}/labs`}>{t("labs")}</Link>}
          extra={
            <>
              <Button icon={<DownloadOutlined />} href={`/api/cohorts/${cohort}/labs/${lab}/public.zip`} download>
                {t("download")}
              </Button>
              {shown.checks.some((check) => check.kind === "metric") && (
                <Link to={`/c/${cohort}/labs/${lab}/board`}>
                  <Button icon={<TrophyOutlined />}>{t("board")}</Button>
                </Link>
              )}
              {staff && (
                <Link to={`/c/${cohort}/teach/labs/${lab}`}>
                  <Button>{t("staffView")}</Button>
                </Link>
              )}
            </>
          }
        >
          <LabFacts lab={shown} />
          <Row gutter={[16, 16]}>
            <Col xs={24} xxl={{ span: 10, order: 2 }}>
              <Flex vertical gap="middle">
                {shown.group_size > 1 && (
                  <MyGroup cohort={cohort} slug={lab} most={shown.group_size} zone={shown.zone} />
                )}
                <Card title={t("handIn")} size="small" extra={<Link to="/guide/hand-in">{t("howTo")}</Link>}>
                  <WhileOpen lab={shown} always={staff}>
                    <HandInBox cohort={cohort} lab={lab} limit={shown.upload_limit ?? null} />
                  </WhileOpen>
                </Card>
                <Card title={t("mine")} size="small">
                  <Answer of={mine}>{(page) => <MyHandIns rows={page.items} zone={shown.zone} />}</Answer>
                </Card>
              </Flex>
            </Col>
            <Col xs={24} xxl={{ span: 14, order: 1 }}>
              <Card title={t("handout")} size="small">
                <Answer of={handout} isEmpty={(one) => one.text === ""} empty={t("noHandout")}>
                  {(one) => <Markdown text={one.text} base={one.base} />}
                </Answer>
              </Card>
            </Col>
          </Row>
          <Typography.Text type="secondary">{t("version", { version: shown.version })}</Typography.Text>
        </Page>
      )}
    </Answer>
  );
}
