import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Card, Form, Input, InputNumber, Modal, Select, Switch } from "antd";
import { useState } from "react";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { fromLocal, toLocal } from "@/ui/zoned";
import type { Rules } from "./standing";
import { groupTexts } from "./texts";
import type { Scope } from "./useScopes";

interface Props {
  cohort: string;
  rules: Rules[];
  scopes: Scope[];
}

/** How groups are formed: size, by whom, until when. */
export function GroupRules({ cohort, rules, scopes }: Props) {
  const t = useTexts(groupTexts);
  const [edited, setEdited] = useState<Partial<Rules> | null>(null);
  const zone = useQuery({
    queryKey: ["cohort", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}", { params: { path: { cohort } } })),
    select: (found) => found.zone,
  });
  const titleOf = (scope: string) => scopes.find((one) => one.slug === scope)?.title ?? scope;
  return (
    <Card size="small" title={t("rules")} extra={<Button onClick={() => setEdited({})}>{t("setRules")}</Button>}>
      <DataList
        rows={rules}
        rowKey={(rule) => rule.scope}
        label={t("rules")}
        empty={t("noRules")}
        columns={[
          { key: "scope", title: t("scope"), render: (rule) => titleOf(rule.scope) },
          { key: "size", title: t("size"), render: (rule) => t("people", { n: rule.size }) },
          { key: "by", title: t("byWhom"), render: (rule) => t(rule.by_students ? "byStudents" : "byStaff") },
          {
            key: "locks",
            title: t("locks"),
            render: (rule) => (rule.locks_at ? <Moment at={rule.locks_at} zone={zone.data} countdown /> : t("never")),
          },
          {
            key: "change",
            title: t("change"),
            render: (rule) => (
              <Button
                size="small"
                onClick={() => setEdited(rule)}
                aria-label={t("changeOf", { scope: titleOf(rule.scope) })}
              >
                {t("change")}
              </Button>
            ),
          },
        ]}
      />
      {edited && zone.data && (
        <RulesDialog cohort={cohort} rules={edited} scopes={scopes} zone={zone.data} onClose={() => setEdited(null)} />
      )}
    </Card>
  );
}

interface DialogProps {
  cohort: string;
  rules: Partial<Rules>;
  scopes: Scope[];
  zone: string;
  onClose: () => void;
}

interface Fields {
  scope: string;
  size: number;
  by_students: boolean;
  locks?: string;
}

function RulesDialog({ cohort, rules, scopes, zone, onClose }: DialogProps) {
  const t = useTexts(groupTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [form] = Form.useForm<Fields>();
  const save = useMutation({
    mutationFn: (fields: Fields) =>
      body(
        api.PUT("/api/cohorts/{cohort}/group-rules", {
          params: { path: { cohort } },
          body: {
            scope: fields.scope,
            size: fields.size,
            by_students: fields.by_students,
            locks_at: fromLocal(fields.locks ?? "", zone),
          },
        }),
      ),
    onSuccess: () => {
      void message.success(t("saved"));
      void queries.invalidateQueries({ queryKey: ["group-rules", cohort] });
      onClose();
    },
  });
  return (
    <Modal
      open
      title={t("rules")}
      okText={t("save")}
      confirmLoading={save.isPending}
      onOk={() => form.submit()}
      onCancel={onClose}
    >
      {save.isError && <Problem error={save.error} />}
      <Form<Fields>
        name="group-rules"
        form={form}
        layout="vertical"
        initialValues={{
          scope: rules.scope ?? "",
          size: rules.size ?? 3,
          by_students: rules.by_students ?? true,
          locks: toLocal(rules.locks_at, zone),
        }}
        onFinish={(fields) => save.mutate(fields)}
      >
        <Form.Item name="scope" label={t("scope")}>
          <Select
            disabled={rules.scope !== undefined}
            options={scopes.map((one) => ({ value: one.slug, label: one.title }))}
          />
        </Form.Item>
        <Form.Item name="size" label={t("size")} rules={[{ required: true, message: t("missing") }]}>
          <InputNumber min={1} max={20} precision={0} />
        </Form.Item>
        <Form.Item name="by_students" label={t("allowStudents")} valuePropName="checked">
          <Switch />
        </Form.Item>
        <Form.Item name="locks" label={t("locks")} extra={t("zone", { zone })}>
          <Input type="datetime-local" style={{ width: 230 }} />
        </Form.Item>
      </Form>
    </Modal>
  );
}
