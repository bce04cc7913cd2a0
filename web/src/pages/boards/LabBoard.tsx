import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Segmented, Typography } from "antd";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Page } from "@/ui/Page";
import { Ranking } from "./Ranking";
import { boardTexts } from "./texts";

/** The board of a lab: the best of everybody, live. */
export default function LabBoard() {
  const t = useTexts(boardTexts);
  const { cohort = "", lab = "" } = useParams();
  const [efficiency, setEfficiency] = useState(false);
  const board = useQuery({
    queryKey: ["board", cohort, lab, efficiency],
    placeholderData: keepPreviousData,
    queryFn: () =>
      body(
        api.GET("/api/cohorts/{cohort}/labs/{lab}/board", {
          params: { path: { cohort, lab }, query: { limit: 1000, by: efficiency ? "efficiency" : "score" } },
        }),
      ),
  });
  useLive(board.data ? [`board:${board.data.lab_id}`] : [], () => void board.refetch());
  return (
    <Answer of={board}>
      {(shown) => (
        <Page
          title={shown.title}
          above={<Link to={`/c/${cohort}/boards`}>{t("boards")}</Link>}
          extra={<Link to={`/c/${cohort}/labs/${lab}`}>{t("toLab")}</Link>}
        >
          <Segmented
            value={efficiency ? "efficiency" : "score"}
            onChange={(value) => setEfficiency(value === "efficiency")}
            options={[
              { value: "score", label: t("byScore") },
              { value: "efficiency", label: t("byEfficiency") },
            ]}
          />
          {shown.unit === "cpu_minute" && <Typography.Text type="secondary">{t("byCpu")}</Typography.Text>}
          <Ranking rows={shown.entries} />
        </Page>
      )}
    </Answer>
  );
}
