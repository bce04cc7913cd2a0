import { useQuery } from "@tanstack/react-query";
import { Flex } from "antd";
import { Link } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Points, VerdictTag } from "@/ui/tags";
import { Box, Lines } from "./Box";
import { homeTexts } from "./texts";

const MOST = 5;

const isGraded = (grade: Schemas["Grade"]) => grade.points !== null || grade.verdict !== null;

/** What was graded of oneself. */
export function LastGrades() {
  const t = useTexts(homeTexts);
  const grades = useQuery({ queryKey: ["grades"], queryFn: () => body(api.GET("/api/grades")) });
  useLive(["me"], (event) => {
    if (event.kind === "grade" || event.kind === "attempt") void grades.refetch();
  });
  return (
    <Box title={t("grades")} to="/grades" all={t("allGrades")}>
      <Answer of={grades} empty={t("noGrades")} isEmpty={(rows) => !rows.some(isGraded)}>
        {(rows) => (
          <Lines label={t("grades")}>
            {rows
              .filter(isGraded)
              .slice(-MOST)
              .reverse()
              .map((grade) => (
                <li key={`${grade.cohort}/${grade.lab}`}>
                  <Flex gap="small" wrap align="center" justify="space-between">
                    <Link to={grade.attempt ? `/attempts/${grade.attempt}` : `/c/${grade.cohort}/labs/${grade.lab}`}>
                      {grade.title}
                    </Link>
                    <Flex gap="small" wrap align="center">
                      <Points points={grade.points} of={grade.max_points} />
                      <VerdictTag verdict={grade.verdict} text={grade.verdict_text} />
                    </Flex>
                  </Flex>
                </li>
              ))}
          </Lines>
        )}
      </Answer>
    </Box>
  );
}
