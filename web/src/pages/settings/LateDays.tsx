import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App, Button, Card, Flex, InputNumber, Typography } from "antd";
import { useState } from "react";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Moves } from "@/pages/teach/Moves";
import { Problem } from "@/ui/Problem";
import { settingsTexts } from "./texts";

/** Late days of each person; whose grades a change moves is shown before it is made. */
export function LateDays({ cohort, disabled }: { cohort: Schemas["Cohort"]; disabled: boolean }) {
  const t = useTexts(settingsTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [days, setDays] = useState(cohort.late_days);
  const set = useMutation({
    mutationFn: (preview: boolean) =>
      body(
        api.PUT("/api/cohorts/{cohort}/late-days", {
          params: { path: { cohort: cohort.slug } },
          body: { days, preview },
        }),
      ),
    onSuccess: (found) => {
      if (found.preview) return;
      void message.success(t("saved"));
      for (const key of ["cohort", "gradebook"]) void queries.invalidateQueries({ queryKey: [key, cohort.slug] });
    },
  });
  const isSame = days === cohort.late_days;
  return (
    <Card size="small" title={t("lateDays")}>
      <Typography.Paragraph type="secondary">{t("lateDaysLead")}</Typography.Paragraph>
      <Flex gap="small" wrap align="center">
        <InputNumber
          aria-label={t("days")}
          min={0}
          max={366}
          precision={0}
          value={days}
          disabled={disabled}
          onChange={(value) => {
            setDays(value ?? 0);
            set.reset();
          }}
        />
        <Button disabled={disabled || isSame} loading={set.isPending} onClick={() => set.mutate(true)}>
          {t("preview")}
        </Button>
        {set.data?.preview && !isSame && (
          <Button type="primary" loading={set.isPending} onClick={() => set.mutate(false)}>
            {t("apply")}
          </Button>
        )}
      </Flex>
      {set.isError && <Problem error={set.error} />}
      {set.data?.preview && <Moves moves={set.data.moves} />}
    </Card>
  );
}
