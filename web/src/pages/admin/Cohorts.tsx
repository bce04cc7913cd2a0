import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Card, Form, Input, InputNumber, Popconfirm, Tag } from "antd";
import { Link, useNavigate } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { adminTexts } from "./texts";

/** All cohorts of the platform: made, and put away at the end of a term. */
export default function Cohorts() {
  const t = useTexts(adminTexts);
  const queries = useQueryClient();
  const cohorts = useQuery({ queryKey: ["cohorts"], queryFn: () => body(api.GET("/api/cohorts")) });
  const archive = useMutation({
    mutationFn: (one: Schemas["Cohort"]) =>
      body(
        api.PUT("/api/cohorts/{cohort}/archived", {
          params: { path: { cohort: one.slug } },
          body: { archived: one.archived_at === null },
        }),
      ),
    onSuccess: () => Promise.all(["cohorts", "me"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  return (
    <Page title={t("cohorts")}>
      {archive.isError && <Problem error={archive.error} />}
      <Answer of={cohorts} empty={t("none")}>
        {(rows) => (
          <DataList
            rows={rows}
            rowKey={(row) => row.slug}
            label={t("cohorts")}
            columns={[
              {
                key: "title",
                title: t("cohort"),
                render: (row) => <Link to={`/c/${row.slug}/start`}>{row.title || row.slug}</Link>,
              },
              { key: "slug", title: t("slug"), wideOnly: true, render: (row) => <code>{row.slug}</code> },
              { key: "term", title: t("term"), render: (row) => row.term || "—" },
              { key: "zone", title: t("zone"), wideOnly: true, render: (row) => row.zone },
              {
                key: "state",
                title: t("state"),
                render: (row) =>
                  row.archived_at ? <Tag>{t("archived")}</Tag> : <Tag color="processing">{t("active")}</Tag>,
              },
              {
                key: "archive",
                title: "",
                render: (row) => (
                  <Popconfirm
                    title={t("archiveAsk")}
                    disabled={row.archived_at !== null}
                    onConfirm={() => archive.mutate(row)}
                  >
                    <Button
                      size="small"
                      loading={archive.isPending && archive.variables.slug === row.slug}
                      onClick={() => row.archived_at !== null && archive.mutate(row)}
                    >
                      {t(row.archived_at ? "restore" : "archive")}
                    </Button>
                  </Popconfirm>
                ),
              },
            ]}
          />
        )}
      </Answer>
      <MakeCohort />
    </Page>
  );
}

function MakeCohort() {
  const t = useTexts(adminTexts);
  const go = useNavigate();
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: (fields: Schemas["NewCohort"]) => body(api.POST("/api/cohorts", { body: { ...fields, demo: false } })),
    onSuccess: async (made) => {
      await Promise.all(["cohorts", "me"].map((key) => queries.invalidateQueries({ queryKey: [key] })));
      void go(`/c/${made.slug}/start`);
    },
  });
  return (
    <Card title={t("make")}>
      <Form<Schemas["NewCohort"]>
        name="cohort"
        layout="vertical"
        style={{ maxWidth: 520 }}
        initialValues={{ zone: "Asia/Shanghai" }}
        onFinish={(fields) => make.mutate(fields)}
      >
        <Form.Item
          name="slug"
          label={t("slug")}
          extra={t("slugRule")}
          rules={[{ required: true, pattern: /^[a-z0-9][a-z0-9-]{0,62}$/, message: t("slugRule") }]}
        >
          <Input maxLength={63} />
        </Form.Item>
        <Form.Item
          name="title"
          label={t("title")}
          rules={[{ required: true, whitespace: true, message: t("missing") }]}
        >
          <Input maxLength={200} />
        </Form.Item>
        <Form.Item name="term" label={t("term")}>
          <Input maxLength={100} />
        </Form.Item>
        <Form.Item name="zone" label={t("zone")} rules={[{ required: true, message: t("missing") }]}>
          <Input maxLength={100} />
        </Form.Item>
        <Form.Item name="cpu_hours" label={t("cpuHours")}>
          <InputNumber min={0} />
        </Form.Item>
        <Form.Item name="gpu_hours" label={t("gpuHours")}>
          <InputNumber min={0} />
        </Form.Item>
        {make.isError && <Problem error={make.error} />}
        <Button type="primary" htmlType="submit" loading={make.isPending}>
          {t("doMake")}
        </Button>
      </Form>
    </Card>
  );
}
