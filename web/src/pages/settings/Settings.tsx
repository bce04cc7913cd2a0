import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Button, Card, Flex, Form, Input, InputNumber, Select } from "antd";
import { useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { changeOf, type Fields, fieldsOf, zones } from "./fields";
import { LateDays } from "./LateDays";
import { Timetable, useDays } from "./Timetable";
import { settingsTexts } from "./texts";

type Cohort = Schemas["Cohort"];

/** What a teacher sets for the whole cohort. */
export default function Settings() {
  const t = useTexts(settingsTexts);
  const me = useMe();
  const { cohort = "" } = useParams();
  const found = useQuery({
    queryKey: ["cohort", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}", { params: { path: { cohort } } })),
  });
  const isTeacher = me.is_admin || me.cohorts.some((one) => one.cohort === cohort && one.role === "teacher");
  return (
    <Page title={t("settings")} above={found.data?.title ?? cohort}>
      {!isTeacher && <Alert type="info" showIcon title={t("byTeacher")} />}
      <Answer of={found}>
        {(shown) => (
          <>
            {/* Made anew once something was saved, by whomever. */}
            <TheForm key={JSON.stringify(shown)} cohort={shown} disabled={!isTeacher} />
            <LateDays key={`late ${shown.late_days}`} cohort={shown} disabled={!isTeacher} />
          </>
        )}
      </Answer>
    </Page>
  );
}

function TheForm({ cohort, disabled }: { cohort: Cohort; disabled: boolean }) {
  const t = useTexts(settingsTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const days = useDays();
  const save = useMutation({
    mutationFn: async (fields: Fields) => {
      const change = changeOf(cohort, fields);
      if (Object.keys(change).length === 0) return null;
      return body(
        api.PATCH("/api/cohorts/{cohort}", {
          params: { path: { cohort: cohort.slug } },
          body: change as Schemas["ChangeCohort"],
        }),
      );
    },
    onSuccess: (saved) => {
      void message.success(t(saved ? "saved" : "nothing"));
      if (!saved) return;
      queries.setQueryData(["cohort", cohort.slug], saved);
      for (const key of ["me", "checklist", "budgets", "home"]) void queries.invalidateQueries({ queryKey: [key] });
    },
  });
  return (
    <Form<Fields>
      name="cohort"
      layout="vertical"
      disabled={disabled}
      initialValues={fieldsOf(cohort)}
      onFinish={(fields) => save.mutate(fields)}
    >
      <Flex vertical gap="middle">
        <Card size="small" title={t("course")}>
          <Flex gap="middle" wrap>
            <Form.Item
              name="title"
              label={t("title")}
              rules={[{ required: true, whitespace: true, message: t("missing") }]}
              style={{ flex: "1 1 260px", maxWidth: 480 }}
            >
              <Input maxLength={200} />
            </Form.Item>
            <Form.Item name="term" label={t("term")} style={{ flex: "1 1 140px", maxWidth: 220 }}>
              <Input maxLength={100} />
            </Form.Item>
          </Flex>
          <Form.Item name="zone" label={t("zone")} extra={t("zoneHint")} style={{ maxWidth: 480 }}>
            <Select
              showSearch={{ optionFilterProp: "label" }}
              options={zones(cohort.zone).map((zone) => ({ value: zone, label: zone }))}
            />
          </Form.Item>
        </Card>
        <Card size="small" title={t("budget")}>
          <Flex gap="middle" wrap>
            <Form.Item name="gpu_hours" label={t("gpuHours")} extra={t("noLimit")}>
              <InputNumber min={0} max={100_000} step={0.5} />
            </Form.Item>
            <Form.Item name="cpu_hours" label={t("cpuHours")} extra={t("noLimit")}>
              <InputNumber min={0} max={100_000} step={0.5} />
            </Form.Item>
            <Form.Item name="weekDay" label={`${t("weekStart")} · ${t("weekDay")}`} style={{ minWidth: 130 }}>
              <Select options={days} />
            </Form.Item>
            <Form.Item
              name="weekTime"
              label={`${t("weekStart")} · ${t("weekTime")}`}
              rules={[{ required: true, message: t("missing") }]}
            >
              <Input type="time" style={{ width: 130 }} />
            </Form.Item>
          </Flex>
        </Card>
        <Timetable />
        {save.isError && <Problem error={save.error} />}
        <div>
          <Button type="primary" htmlType="submit" loading={save.isPending}>
            {t("save")}
          </Button>
        </div>
      </Flex>
    </Form>
  );
}
