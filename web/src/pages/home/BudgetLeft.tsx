import { useQuery } from "@tanstack/react-query";
import { Flex, Typography } from "antd";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { Meter } from "@/ui/Meter";
import { Moment } from "@/ui/Moment";
import { plain } from "@/ui/tags";
import { Box } from "./Box";
import { homeTexts } from "./texts";

type Budget = Schemas["Budget"];

/** What one may still use this week, in each cohort. */
export function BudgetLeft({ titles }: { titles: Record<string, string> }) {
  const t = useTexts(homeTexts);
  const budgets = useQuery({ queryKey: ["budgets"], queryFn: () => body(api.GET("/api/budgets")) });
  useLive(["me"], (event) => {
    if (event.kind === "job" || event.kind === "attempt" || event.kind === "budget") void budgets.refetch();
  });
  return (
    <Box title={t("budget")}>
      <Answer of={budgets} empty={t("noBudget")}>
        {(rows) => (
          <Flex vertical gap="middle">
            {rows.map((row) => (
              <div key={row.cohort}>
                {rows.length > 1 && <Typography.Text strong>{titles[row.cohort] ?? row.cohort}</Typography.Text>}
                <Account name={t("gpu")} limit={row.gpu_limit} used={row.gpu_used} held={row.gpu_held} />
                <Account name={t("cpu")} limit={row.cpu_limit} used={row.cpu_used} held={row.cpu_held} />
                <Resets row={row} />
              </div>
            ))}
          </Flex>
        )}
      </Answer>
    </Box>
  );
}

function Resets({ row }: { row: Budget }) {
  const t = useTexts(homeTexts);
  return (
    <Typography.Text type="secondary">
      {t("resets")} <Moment at={row.week_ends_at} zone={row.zone} countdown />
    </Typography.Text>
  );
}

interface AccountProps {
  name: string;
  limit: number | null;
  used: number;
  held: number;
}

function Account({ name, limit, used, held }: AccountProps) {
  const t = useTexts(homeTexts);
  const taken = used + held;
  const text =
    limit === null
      ? t("usedOnly", { used: plain(used) })
      : t("left", { left: plain(Math.max(0, limit - taken)), limit: plain(limit) });
  return (
    <div>
      <Meter label={name} percent={limit ? (100 * taken) / limit : null} text={text} warns />
      {held > 0.005 && <Typography.Text type="secondary">{t("held", { held: plain(held) })}</Typography.Text>}
    </div>
  );
}
