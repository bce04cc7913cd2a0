import { Button, Col, Empty, Row } from "antd";
import { Link } from "react-router";
import { useCohort } from "@/app/cohort";
import { isStaff, type Me, useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { Page } from "@/ui/Page";
import { BudgetLeft } from "./BudgetLeft";
import { Classroom } from "./Classroom";
import { Deadlines } from "./Deadlines";
import { FirstSteps } from "./FirstSteps";
import { GoingOn } from "./GoingOn";
import { LastGrades } from "./LastGrades";
import { homeTexts } from "./texts";

/** The week of whoever is signed in. */
export default function Home() {
  const t = useTexts(homeTexts);
  const me = useMe();
  const cohort = useCohort();
  return (
    <Page title={t("hello", { name: me.name })}>
      {cohort === undefined ? <InNone me={me} /> : <Week me={me} cohort={cohort} />}
    </Page>
  );
}

function InNone({ me }: { me: Me }) {
  const t = useTexts(homeTexts);
  return (
    <Empty description={me.is_admin ? t("noCohortAdmin") : t("noCohort")}>
      {me.is_admin && (
        <Link to="/admin/cohorts">
          <Button type="primary">{t("makeCohort")}</Button>
        </Link>
      )}
    </Empty>
  );
}

function Week({ me, cohort }: { me: Me; cohort: string }) {
  const active = me.cohorts.filter((one) => one.state === "active");
  const titles = Object.fromEntries(me.cohorts.map((one) => [one.cohort, one.title]));
  const leads = isStaff(me, cohort);
  const learns = active.some((one) => one.role === "student");
  // The one looked at first; an administrator may look at one without being in it.
  const all = [...new Set([cohort, ...active.map((one) => one.cohort)])];
  const boxes = [
    leads ? <Classroom key="class" cohort={cohort} title={titles[cohort] ?? cohort} /> : null,
    <Deadlines key="deadlines" cohorts={all} />,
    <GoingOn key="jobs" />,
    learns ? <LastGrades key="grades" /> : null,
    active.length > 0 ? <BudgetLeft key="budget" titles={titles} /> : null,
    learns || !leads ? <FirstSteps key="steps" cohort={cohort} /> : null,
  ].filter((box) => box !== null);
  return (
    <Row gutter={[16, 16]}>
      {boxes.map((box) => (
        <Col key={box.key} xs={24} md={12} xxl={8}>
          {box}
        </Col>
      ))}
    </Row>
  );
}
