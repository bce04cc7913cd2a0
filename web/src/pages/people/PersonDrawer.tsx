import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App, Button, Drawer, Flex, Form, Input, Popconfirm, Select, Typography } from "antd";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { CopyText } from "@/ui/CopyText";
import { Problem } from "@/ui/Problem";
import type { Person } from "./filter";
import { peopleTexts } from "./texts";

type Change = Schemas["ChangePerson"];

interface Props {
  cohort: string;
  person: Person | undefined;
  onClose: () => void;
  onCode: (code: Schemas["ActivationCode"]) => void;
}

/** One person of the class: role, section, name, in or out, and a new code. */
export function PersonDrawer({ cohort, person, onClose, onCode }: Props) {
  const t = useTexts(peopleTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const login = person?.login ?? "";
  const change = useMutation({
    mutationFn: (wanted: Partial<Change>) =>
      body(
        api.PATCH("/api/cohorts/{cohort}/people/{login}", {
          params: { path: { cohort, login } },
          body: wanted as Change,
        }),
      ),
    onSuccess: () => {
      void message.success(t("saved"));
      void queries.invalidateQueries({ queryKey: ["people", cohort] });
    },
  });
  const code = useMutation({
    mutationFn: () => body(api.POST("/api/people/{login}/code", { params: { path: { login } } })),
    onSuccess: (made) => {
      if (!person) return;
      onClose();
      onCode({ ...made, name: person.name, student_number: person.student_number, section: person.section });
    },
  });
  if (!person) return null;
  const isIn = person.state === "active";
  return (
    <Drawer
      open
      size={420}
      title={t("changeOf", { name: person.name })}
      onClose={onClose}
      styles={{ wrapper: { maxWidth: "100vw" } }}
    >
      <Flex vertical gap="middle">
        <Typography.Text>
          {t("login")} <CopyText text={person.login} />
        </Typography.Text>
        {change.isError && <Problem error={change.error} />}
        {code.isError && <Problem error={code.error} />}
        <Form<Change>
          name="change-person"
          layout="vertical"
          initialValues={{
            name: person.name,
            section: person.section,
            email: person.email ?? "",
            role: person.role,
          }}
          onFinish={(fields) => change.mutate(changed(person, fields))}
        >
          <Form.Item name="name" label={t("name")} rules={[{ required: true, message: t("missing") }]}>
            <Input maxLength={64} />
          </Form.Item>
          <Form.Item name="section" label={t("section")}>
            <Input maxLength={64} />
          </Form.Item>
          <Form.Item name="email" label={t("email")}>
            <Input maxLength={255} type="email" />
          </Form.Item>
          <Form.Item name="role" label={t("role")}>
            <Select
              options={(["student", "assistant", "teacher"] as const).map((role) => ({ value: role, label: t(role) }))}
            />
          </Form.Item>
          <Button type="primary" htmlType="submit" loading={change.isPending}>
            {t("save")}
          </Button>
        </Form>
        <Flex gap="small" wrap>
          {isIn ? (
            <Popconfirm
              title={t("suspend")}
              description={t("suspendAsk")}
              onConfirm={() => change.mutate({ state: "suspended" })}
            >
              <Button danger>{t("suspend")}</Button>
            </Popconfirm>
          ) : (
            <Button onClick={() => change.mutate({ state: "active" })}>{t("restore")}</Button>
          )}
          <Popconfirm title={t("newCode")} description={t("newCodeAsk")} onConfirm={() => code.mutate()}>
            <Button loading={code.isPending}>{t("newCode")}</Button>
          </Popconfirm>
        </Flex>
      </Flex>
    </Drawer>
  );
}

/** Only what differs is sent: what one may not change is not asked for. */
function changed(person: Person, fields: Change): Partial<Change> {
  const wanted: Partial<Change> = {};
  if (fields.name !== person.name) wanted.name = fields.name;
  if (fields.section !== person.section) wanted.section = fields.section ?? "";
  if ((fields.email ?? "") !== (person.email ?? "")) wanted.email = fields.email ?? "";
  if (fields.role !== person.role) wanted.role = fields.role;
  return wanted;
}
