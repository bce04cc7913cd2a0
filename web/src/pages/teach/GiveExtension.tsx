import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App, Form, Input, InputNumber, Modal, Segmented, Select, Switch } from "antd";
import { useState } from "react";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Problem } from "@/ui/Problem";
import { fromLocal } from "@/ui/zoned";
import { ChooseStudents, useStudents } from "./ChooseStudents";
import { teachTexts } from "./texts";

type How = "byDays" | "byHours" | "until";

interface Fields {
  logins?: string[];
  section?: string;
  amount?: number;
  until?: string;
  reason: string;
  all?: boolean;
}

/** More time for one or many students, or for a section. */
export function GiveExtension({ lab, onClose }: { lab: Schemas["Lab"]; onClose: () => void }) {
  const t = useTexts(teachTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [form] = Form.useForm<Fields>();
  const [how, setHow] = useState<How>("byDays");
  const cohort = lab.cohort;
  const { students } = useStudents(cohort);
  const sections = [...new Set(students.map((line) => line.section).filter(Boolean))].sort();
  const give = useMutation({
    mutationFn: async (fields: Fields) => {
      const more = {
        lab: fields.all ? null : lab.slug,
        days: how === "byDays" ? (fields.amount ?? 0) : 0,
        hours: how === "byHours" ? (fields.amount ?? 0) : 0,
        until: how === "until" ? fromLocal(fields.until ?? "", lab.zone) : null,
        reason: fields.reason,
        preview: false,
      };
      const given = (whom: { login?: string; section?: string }) =>
        body(
          api.POST("/api/cohorts/{cohort}/extensions", { params: { path: { cohort } }, body: { ...more, ...whom } }),
        );
      if (fields.section) {
        await given({ section: fields.section });
        return 1;
      }
      // One by one: what was given stays given and leaves the list, should one be refused.
      let left = fields.logins ?? [];
      const all = left.length;
      while (left[0] !== undefined) {
        await given({ login: left[0] });
        left = left.slice(1);
        form.setFieldValue("logins", left);
      }
      return all;
    },
    onSuccess: (n) => {
      void message.success(t("given", { n }));
      onClose();
    },
    onSettled: () => {
      for (const key of ["extensions", "gradebook"]) void queries.invalidateQueries({ queryKey: [key, cohort] });
    },
  });
  const section = Form.useWatch("section", form);
  const all = Form.useWatch("all", form);
  return (
    <Modal
      open
      title={t("give")}
      okText={t("give")}
      confirmLoading={give.isPending}
      onOk={() => form.submit()}
      onCancel={onClose}
    >
      {give.isError && <Problem error={give.error} />}
      <Form
        name="extension"
        form={form}
        layout="vertical"
        initialValues={{ amount: 1 }}
        onFinish={(fields) => give.mutate(fields)}
      >
        <Form.Item
          name="logins"
          label={t("people")}
          rules={[{ required: !section, message: t("chooseWho") }]}
          hidden={Boolean(section)}
        >
          <ChooseStudents cohort={cohort} />
        </Form.Item>
        {sections.length > 0 && (
          <Form.Item name="section" label={t("orSection")}>
            <Select allowClear options={sections.map((one) => ({ value: one, label: one }))} />
          </Form.Item>
        )}
        <Form.Item label={t("howMuch")}>
          <Segmented<How>
            aria-label={t("howMuch")}
            value={how}
            onChange={setHow}
            options={(["byDays", "byHours", ...(all ? [] : ["until"])] as How[]).map((one) => ({
              value: one,
              label: t(one),
            }))}
          />
        </Form.Item>
        {how === "until" ? (
          <Form.Item
            name="until"
            label={t("until")}
            extra={t("zone", { zone: lab.zone })}
            rules={[{ required: true, message: t("missing") }]}
          >
            <Input type="datetime-local" style={{ width: 230 }} />
          </Form.Item>
        ) : (
          <Form.Item name="amount" label={t(how)} rules={[{ required: true, message: t("missing") }]}>
            <InputNumber
              min={how === "byDays" ? 1 : 0.25}
              max={how === "byDays" ? 366 : 8784}
              precision={how === "byDays" ? 0 : 2}
            />
          </Form.Item>
        )}
        <Form.Item
          name="reason"
          label={t("reason")}
          rules={[{ required: true, whitespace: true, message: t("missing") }]}
        >
          <Input maxLength={500} placeholder={t("reasonExample")} />
        </Form.Item>
        <Form.Item name="all" label={t("allLabs")} valuePropName="checked">
          <Switch disabled={how === "until"} />
        </Form.Item>
      </Form>
    </Modal>
  );
}
