import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Card, Checkbox, Flex, Form, Input, Tag, Typography } from "antd";
import { Link, useNavigate } from "react-router";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { ChooseStudents } from "./ChooseStudents";
import { teachTexts } from "./texts";

const COLOURS: Record<string, string> = { open: "processing", applied: "success" };

/** Whether a regrade is rehearsed, applied or dropped. */
export function RegradeState({ state }: { state: string }) {
  const t = useTexts(teachTexts);
  const known = (["open", "applied", "dropped"] as const).find((one) => one === state);
  return <Tag color={COLOURS[state] ?? "default"}>{known ? t(known) : state}</Tag>;
}

/** The regrades of a lab, and a form to begin one. */
export function LabRegrades({ cohort, lab }: { cohort: string; lab: string }) {
  const t = useTexts(teachTexts);
  const go = useNavigate();
  const queries = useQueryClient();
  const path = { cohort, lab };
  const rows = useQuery({
    queryKey: ["regrades", cohort, lab],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs/{lab}/regrades", { params: { path } })),
  });
  const start = useMutation({
    mutationFn: (fields: { reason: string; counting?: boolean; logins?: string[] }) =>
      body(
        api.POST("/api/cohorts/{cohort}/labs/{lab}/regrades", {
          params: { path },
          body: {
            reason: fields.reason,
            counting: fields.counting ?? false,
            logins: fields.logins ?? [],
            submissions: [],
          },
        }),
      ),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ["regrades", cohort, lab] });
      void go(`/c/${cohort}/teach/labs/${lab}/regrades/${made.id}`);
    },
  });
  return (
    <Card title={t("regrades")}>
      <Flex vertical gap="middle">
        <Typography.Text type="secondary">{t("regradesHint")}</Typography.Text>
        <Answer of={rows} empty={t("noRegrades")}>
          {(found) => (
            <DataList
              rows={found}
              rowKey={(row) => row.id}
              label={t("regrades")}
              columns={[
                {
                  key: "reason",
                  title: t("reason"),
                  render: (row) => <Link to={`/c/${cohort}/teach/labs/${lab}/regrades/${row.id}`}>{row.reason}</Link>,
                },
                { key: "state", title: t("state"), render: (row) => <RegradeState state={row.state} /> },
                { key: "at", title: t("startedAt"), render: (row) => <Moment at={row.started_at} /> },
                { key: "version", title: t("version"), wideOnly: true, render: (row) => <code>{row.version}</code> },
              ]}
            />
          )}
        </Answer>
        {start.isError && <Problem error={start.error} />}
        <Form name="regrade" layout="vertical" onFinish={(fields) => start.mutate(fields)} style={{ maxWidth: 520 }}>
          <Form.Item
            name="reason"
            label={t("reason")}
            rules={[{ required: true, whitespace: true, message: t("missing") }]}
          >
            <Input maxLength={500} />
          </Form.Item>
          <Form.Item name="logins" label={t("onlyOf")}>
            <ChooseStudents cohort={cohort} allowClear placeholder={t("everybody")} />
          </Form.Item>
          <Form.Item name="counting" valuePropName="checked">
            <Checkbox>{t("counting")}</Checkbox>
          </Form.Item>
          <Button htmlType="submit" loading={start.isPending} disabled={rows.data?.some((row) => row.state === "open")}>
            {t("start")}
          </Button>
        </Form>
      </Flex>
    </Card>
  );
}
