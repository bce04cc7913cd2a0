import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App, Button, Card, Flex, Form, Input, Typography } from "antd";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Problem } from "@/ui/Problem";
import { fromLocal, toLocal } from "@/ui/zoned";
import { Moves } from "./Moves";
import { teachTexts } from "./texts";

type Lab = Schemas["Lab"];
type Fields = Record<"opens" | "due" | "locks", string | undefined>;
const NAMES = ["opens", "due", "locks"] as const;

/** The dates of a lab; whose grades move is seen before it is saved. */
export function LabDates({ lab }: { lab: Lab }) {
  const t = useTexts(teachTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [form] = Form.useForm<Fields>();
  const was: Fields = {
    opens: toLocal(lab.opens_at, lab.zone),
    due: toLocal(lab.due_at, lab.zone),
    locks: toLocal(lab.locks_at, lab.zone),
  };
  const change = useMutation({
    mutationFn: ({ preview }: { preview: boolean }) => {
      const fields = form.getFieldsValue();
      const dates: Partial<Record<(typeof NAMES)[number], string | null>> = {};
      // What was not touched is not sent: its seconds stay.
      for (const name of NAMES)
        if ((fields[name] ?? "") !== was[name]) dates[name] = fromLocal(fields[name] ?? "", lab.zone);
      return body(
        api.PUT("/api/cohorts/{cohort}/labs/{lab}/dates", {
          params: { path: { cohort: lab.cohort, lab: lab.slug } },
          body: { ...dates, preview },
        }),
      );
    },
    onSuccess: (found) => {
      if (found.preview) return;
      void message.success(t("saved"));
      for (const key of ["lab", "labs", "gradebook"]) void queries.invalidateQueries({ queryKey: [key, lab.cohort] });
    },
  });
  return (
    <Card title={t("dates")}>
      <Typography.Paragraph type="secondary">
        {t("datesHint")} · {t("zone", { zone: lab.zone })}
      </Typography.Paragraph>
      <Form
        name="dates"
        form={form}
        layout="vertical"
        initialValues={was}
        onValuesChange={() => change.reset()}
        onFinish={() => change.mutate({ preview: false })}
      >
        <Flex wrap gap="middle">
          {NAMES.map((name) => (
            <Form.Item key={name} name={name} label={t(name)}>
              <Input type="datetime-local" style={{ width: 230 }} />
            </Form.Item>
          ))}
        </Flex>
        <Flex wrap gap="small">
          <Button loading={change.isPending} onClick={() => change.mutate({ preview: true })}>
            {t("preview")}
          </Button>
          <Button type="primary" htmlType="submit" loading={change.isPending}>
            {t("save")}
          </Button>
          <Button
            onClick={() => {
              form.setFieldValue("opens", toLocal(new Date().toISOString(), lab.zone));
              change.reset();
            }}
          >
            {t("openNow")}
          </Button>
        </Flex>
      </Form>
      {change.isError && <Problem error={change.error} />}
      {change.data?.preview && <Moves moves={change.data.moves} />}
    </Card>
  );
}
