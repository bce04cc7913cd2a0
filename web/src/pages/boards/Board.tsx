import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Button, Card, Descriptions, Tag, Typography } from "antd";
import { Link, useParams } from "react-router";
import { api, body } from "@/api/client";
import { isStaff, useMe } from "@/app/me";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { EnterBox } from "./EnterBox";
import { MyEntries } from "./MyEntries";
import { Ranking } from "./Ranking";
import { StaffBoard } from "./StaffBoard";
import { boardTexts } from "./texts";

/** A board of predictions: enter, follow the ranking, choose what counts in the end. */
export default function Board() {
  const t = useTexts(boardTexts);
  const { language } = useLanguage();
  const me = useMe();
  const { cohort = "", board = "" } = useParams();
  const path = { cohort, board };
  const found = useQuery({
    queryKey: ["board", cohort, board, language],
    placeholderData: keepPreviousData,
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/boards/{board}", { params: { path, query: { limit: 1000 } } })),
  });
  useLive(found.data ? [`board:${found.data.id}`] : [], () => void found.refetch());
  return (
    <Answer of={found}>
      {(shown) => (
        <Page
          title={either(shown.title, shown.title_en, language)}
          above={<Link to={`/c/${cohort}/boards`}>{t("boards")}</Link>}
          extra={
            shown.has_sample && (
              <Button href={`/api/cohorts/${cohort}/boards/${board}/sample.csv`} download>
                {t("sample")}
              </Button>
            )
          }
        >
          <Card size="small">
            <Descriptions
              column={1}
              size="small"
              items={[
                {
                  key: "due",
                  label: t("due"),
                  children: <Moment at={shown.due_at} zone={shown.zone} countdown />,
                },
                {
                  key: "phase",
                  label: <Tag>{t(shown.phase as "unopened" | "open" | "closed" | "final")}</Tag>,
                  children: t(shown.private ? "privateRank" : "publicRank"),
                },
              ]}
            />
            {shown.allowance && <Typography.Text>{shown.allowance.sentence}</Typography.Text>}
          </Card>
          {shown.phase === "open" && <EnterBox board={shown} />}
          <MyEntries board={shown} />
          {isStaff(me, cohort) && <StaffBoard board={shown} />}
          <Ranking rows={shown.entries} zone={shown.zone} />
        </Page>
      )}
    </Answer>
  );
}
