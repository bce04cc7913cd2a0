import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App, Form, Input, Modal, Select } from "antd";
import { api, body, type Schemas } from "@/api/client";
import { useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { Problem } from "@/ui/Problem";
import { peopleTexts } from "./texts";

interface Fields {
  login: string;
  name: string;
  student_number?: string;
  section?: string;
  email?: string;
  role: string;
}

interface Props {
  cohort: string;
  onClose: () => void;
  onCode: (code: Schemas["ActivationCode"]) => void;
}

/** Somebody who is in no file: an auditor, an assistant, a latecomer. */
export function AddPerson({ cohort, onClose, onCode }: Props) {
  const t = useTexts(peopleTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const me = useMe();
  const [form] = Form.useForm<Fields>();
  const isTeacher = me.is_admin || me.cohorts.some((one) => one.cohort === cohort && one.role === "teacher");
  const add = useMutation({
    mutationFn: (fields: Fields) =>
      body(
        api.POST("/api/cohorts/{cohort}/people", {
          params: { path: { cohort } },
          body: {
            login: fields.login,
            name: fields.name,
            role: fields.role,
            section: fields.section ?? "",
            student_number: fields.student_number || null,
            email: fields.email || null,
          },
        }),
      ),
    onSuccess: ({ person, code }) => {
      void message.success(t("added", { name: person.name }));
      void queries.invalidateQueries({ queryKey: ["people", cohort] });
      onClose();
      if (code)
        onCode({
          login: person.login,
          name: person.name,
          student_number: person.student_number,
          section: person.section,
          code,
        });
    },
  });
  const needed = [{ required: true, whitespace: true, message: t("missing") }];
  return (
    <Modal
      open
      title={t("add")}
      okText={t("add")}
      confirmLoading={add.isPending}
      onOk={() => form.submit()}
      onCancel={onClose}
    >
      {add.isError && <Problem error={add.error} />}
      <Form<Fields>
        name="person"
        form={form}
        layout="vertical"
        initialValues={{ role: "student" }}
        onFinish={(fields) => add.mutate(fields)}
      >
        <Form.Item name="name" label={t("name")} rules={needed}>
          <Input maxLength={64} autoComplete="off" />
        </Form.Item>
        <Form.Item name="student_number" label={t("number")}>
          <Input
            maxLength={32}
            autoComplete="off"
            onChange={(event) => {
              if (!form.isFieldTouched("login")) form.setFieldValue("login", event.target.value.trim().toLowerCase());
            }}
          />
        </Form.Item>
        <Form.Item name="login" label={t("login")} extra={`${t("loginHint")} · ${t("existing")}`} rules={needed}>
          <Input maxLength={32} autoComplete="off" autoCapitalize="none" />
        </Form.Item>
        <Form.Item name="section" label={t("section")}>
          <Input maxLength={64} />
        </Form.Item>
        <Form.Item name="email" label={t("email")}>
          <Input maxLength={255} autoComplete="off" type="email" />
        </Form.Item>
        <Form.Item name="role" label={t("role")} extra={isTeacher ? undefined : t("staffByTeacher")}>
          <Select
            disabled={!isTeacher}
            options={(["student", "assistant", "teacher"] as const).map((role) => ({ value: role, label: t(role) }))}
          />
        </Form.Item>
      </Form>
    </Modal>
  );
}
