import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Card, Checkbox, Flex, Form, Input, InputNumber, Popconfirm, Select, Typography } from "antd";
import { useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { CopyText } from "@/ui/CopyText";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { screenTexts } from "./texts";

const SCENES = ["board", "queue", "deadlines", "top", "jobs"] as const;

/** The projectors of a cohort: links are made here, and revoked. */
export default function Screens() {
  const t = useTexts(screenTexts);
  const me = useMe();
  const queries = useQueryClient();
  const { cohort = "" } = useParams();
  const path = { cohort };
  const screens = useQuery({
    queryKey: ["screens", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/screens", { params: { path } })),
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ["screens", cohort] });
  const make = useMutation({
    mutationFn: (fields: Schemas["NewScreen"]) =>
      body(api.POST("/api/cohorts/{cohort}/screens", { params: { path }, body: fields })),
    onSuccess: refresh,
  });
  const revoke = useMutation({
    mutationFn: (id: number) =>
      api.DELETE("/api/cohorts/{cohort}/screens/{screen_id}", { params: { path: { cohort, screen_id: id } } }),
    onSuccess: refresh,
  });
  // Behind the #: a browser sends it to nobody, so that no log keeps it.
  const link = make.data && `${location.origin}/screen/${cohort}#${make.data.secret}`;
  return (
    <Page title={t("screens")} above={me.cohorts.find((one) => one.cohort === cohort)?.title ?? cohort}>
      <Typography.Text type="secondary">{t("lead")}</Typography.Text>
      {link && (
        <Alert
          type="success"
          showIcon
          title={t("once")}
          description={
            <Flex vertical gap="small">
              <CopyText text={link} />
              <Button href={link} target="_blank" style={{ alignSelf: "start" }}>
                {t("open")}
              </Button>
            </Flex>
          }
        />
      )}
      <Card title={t("make")}>
        <Form<Schemas["NewScreen"]>
          name="screen"
          layout="vertical"
          style={{ maxWidth: 520 }}
          initialValues={{ name: "", scenes: SCENES.slice(0, 4), seconds: 15, jobs: [], always: false }}
          onFinish={(fields) => make.mutate(fields)}
        >
          <Form.Item name="name" label={t("name")}>
            <Input maxLength={60} />
          </Form.Item>
          <Form.Item name="scenes" label={t("scenes")} rules={[{ required: true, message: t("scenes") }]}>
            <Select mode="multiple" options={SCENES.map((one) => ({ value: one, label: t(one) }))} />
          </Form.Item>
          <Form.Item name="seconds" label={t("seconds")}>
            <InputNumber min={5} max={600} precision={0} />
          </Form.Item>
          <Form.Item name="jobs" label={t("jobIds")}>
            <Select mode="tags" maxCount={4} open={false} suffixIcon={null} tokenSeparators={[",", " "]} />
          </Form.Item>
          <Form.Item name="always" valuePropName="checked">
            <Checkbox>{t("always")}</Checkbox>
          </Form.Item>
          {make.isError && <Problem error={make.error} />}
          <Button type="primary" htmlType="submit" loading={make.isPending}>
            {t("make")}
          </Button>
        </Form>
      </Card>
      {revoke.isError && <Problem error={revoke.error} />}
      <Answer of={screens} empty={t("none")}>
        {(rows) => (
          <DataList
            rows={rows}
            rowKey={(row) => row.id}
            label={t("screens")}
            columns={[
              { key: "name", title: t("name"), render: (row) => row.name || `#${row.id}` },
              {
                key: "scenes",
                title: t("scenes"),
                render: (row) =>
                  row.scenes.map((one) => (one in screenTexts ? t(one as (typeof SCENES)[number]) : one)).join("、"),
              },
              {
                key: "used",
                title: t("used"),
                render: (row) => (row.last_used_at ? <Moment at={row.last_used_at} countdown /> : t("never")),
              },
              { key: "expires", title: t("expires"), wideOnly: true, render: (row) => <Moment at={row.expires_at} /> },
              {
                key: "revoke",
                title: "",
                render: (row) => (
                  <Popconfirm title={t("revokeAsk")} onConfirm={() => revoke.mutate(row.id)}>
                    <Button size="small" danger>
                      {t("revoke")}
                    </Button>
                  </Popconfirm>
                ),
              },
            ]}
          />
        )}
      </Answer>
    </Page>
  );
}
