import { useQueries } from "@tanstack/react-query";
import { Flex, Skeleton, Tag, Typography } from "antd";
import { Link } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Moment, useNow } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { Box, Lines } from "./Box";
import { dueOf, soon } from "./deadlines";
import { homeTexts } from "./texts";

/** What is due next in one's cohorts, with the time that is left. */
export function Deadlines({ cohorts }: { cohorts: string[] }) {
  const t = useTexts(homeTexts);
  const found = useQueries({
    queries: cohorts.map((cohort) => ({
      queryKey: ["labs", cohort],
      queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs", { params: { path: { cohort } } })),
    })),
  });
  useLive(
    cohorts.map((cohort) => `cohort:${cohort}`),
    (event) => {
      if (event.kind === "lab" || event.kind === "dates") for (const one of found) void one.refetch();
    },
  );
  const failed = found.find((one) => one.isError && one.data === undefined);
  const isLoading = found.some((one) => one.isPending);
  const labs = found.flatMap((one) => one.data ?? []);
  return (
    <Box title={t("deadlines")} to={`/c/${cohorts[0]}/labs`} all={t("allLabs")}>
      {failed ? (
        <Problem error={failed.error} retry={() => void failed.refetch()} />
      ) : isLoading ? (
        <Skeleton active />
      ) : (
        <Soon labs={labs} />
      )}
    </Box>
  );
}

function Soon({ labs }: { labs: Schemas["Lab"][] }) {
  const t = useTexts(homeTexts);
  const { language } = useLanguage();
  // A minute is fine enough for which labs there are; the countdown has its own clock.
  const minute = Math.floor(useNow() / 60_000) * 60_000;
  const rows = soon(labs, minute);
  if (rows.length === 0) return <Typography.Text type="secondary">{t("noDeadlines")}</Typography.Text>;
  return (
    <Lines label={t("deadlines")}>
      {rows.map((lab) => (
        <li key={`${lab.cohort}/${lab.slug}`}>
          <Flex gap="small" wrap align="center">
            <Link to={`/c/${lab.cohort}/labs/${lab.slug}`}>{either(lab.title, lab.title_en, language)}</Link>
            {lab.mine?.extension && <Tag color="processing">{t("extended")}</Tag>}
          </Flex>
          <div>
            {lab.opens_at && Date.parse(lab.opens_at) > minute && (
              <div>
                {t("opens")} <Moment at={lab.opens_at} zone={lab.zone} countdown />
              </div>
            )}
            {dueOf(lab) ? (
              <>
                {t("due")} <Moment at={dueOf(lab)} zone={lab.zone} countdown />
              </>
            ) : null}
          </div>
        </li>
      ))}
    </Lines>
  );
}
