import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Flex, Popconfirm, Tag, Typography } from "antd";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { signed } from "@/pages/grades/how";
import { Answer } from "@/ui/Answer";
import { Moment } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { plain } from "@/ui/tags";
import { bookTexts } from "./texts";

/** What was decided about a grade, the newest first; what holds can be taken back. */
export function Decisions({ cohort, lab, login }: { cohort: string; lab: string; login: string }) {
  const t = useTexts(bookTexts);
  const queries = useQueryClient();
  const key = ["adjustments", cohort, lab, login];
  const rows = useQuery({
    queryKey: key,
    queryFn: () =>
      body(
        api.GET("/api/cohorts/{cohort}/labs/{lab}/adjustments", {
          params: { path: { cohort, lab }, query: { login } },
        }),
      ),
  });
  const revoke = useMutation({
    mutationFn: (adjustment: number) =>
      api.POST("/api/cohorts/{cohort}/adjustments/{adjustment}/revoke", { params: { path: { cohort, adjustment } } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: key });
      void queries.invalidateQueries({ queryKey: ["gradebook", cohort] });
    },
  });
  return (
    <section>
      <Typography.Title level={2} style={{ fontSize: 16 }}>
        {t("decisions")}
      </Typography.Title>
      {revoke.isError && <Problem error={revoke.error} />}
      <Answer of={rows} empty={t("noDecisions")}>
        {(found) => (
          <Flex vertical gap="small" component="ul" style={{ margin: 0, padding: 0, listStyle: "none" }}>
            {found.map((one) => (
              <li key={one.id} style={{ overflowWrap: "anywhere" }}>
                <strong>
                  {t(one.kind as "bonus" | "override" | "comment")}{" "}
                  {one.points !== null && (one.kind === "bonus" ? signed(one.points) : plain(one.points))}
                </strong>{" "}
                {one.text} {one.revoked_at ? <Tag>{t("takenBack")}</Tag> : <Tag color="success">{t("holds")}</Tag>}
                <Flex wrap gap="small" align="center">
                  <Typography.Text type="secondary">
                    {t("by", { who: one.by ?? t("platform") })} · <Moment at={one.at} />
                  </Typography.Text>
                  {!one.revoked_at && (
                    <Popconfirm title={t("takeBackAsk")} onConfirm={() => revoke.mutate(one.id)}>
                      <Button size="small">{t("takeBack")}</Button>
                    </Popconfirm>
                  )}
                </Flex>
              </li>
            ))}
          </Flex>
        )}
      </Answer>
    </section>
  );
}
