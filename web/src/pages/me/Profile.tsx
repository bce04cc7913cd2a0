import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App, Button, Card, Descriptions, Flex, Form, Input, Radio, Switch, Tag } from "antd";
import { api, body, type Schemas } from "@/api/client";
import { useMe } from "@/app/me";
import { type Look, useLook } from "@/app/theme";
import { type Language, useLanguage, useTexts } from "@/i18n";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { meTexts } from "./texts";

export default function Profile() {
  const t = useTexts(meTexts);
  const me = useMe();
  return (
    <Page title={t("me")}>
      <Card title={t("profile")}>
        <Descriptions
          column={1}
          items={[
            { key: "login", label: t("login"), children: me.login },
            { key: "name", label: t("name"), children: me.name },
            {
              key: "cohorts",
              label: t("cohorts"),
              children: me.cohorts.map((one) => <Tag key={one.cohort}>{one.title}</Tag>),
            },
          ]}
        />
        <OnBoards />
      </Card>
      <Card title={t("shown")}>
        <Shown />
      </Card>
      <Card title={t("password")}>
        <Password />
      </Card>
    </Page>
  );
}

function OnBoards() {
  const t = useTexts(meTexts);
  const me = useMe();
  const { message } = App.useApp();
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: (fields: Schemas["Profile"]) => body(api.PATCH("/api/me", { body: fields })),
    onSuccess: (changed) => {
      queries.setQueryData(["me"], changed);
      void message.success(t("saved"));
    },
  });
  return (
    <Form
      layout="vertical"
      initialValues={{ alias: me.alias, show_name: me.show_name }}
      onFinish={(fields) => save.mutate(fields)}
      style={{ maxWidth: 420 }}
    >
      {save.isError && <Problem error={save.error} />}
      <Form.Item
        name="alias"
        label={t("alias")}
        extra={t("aliasHint")}
        rules={[{ required: true, message: t("missing") }]}
      >
        <Input maxLength={20} />
      </Form.Item>
      <Form.Item name="show_name" label={t("showName")} valuePropName="checked">
        <Switch />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={save.isPending}>
        {t("save")}
      </Button>
    </Form>
  );
}

/** Kept in this browser: the same person may want it otherwise on another screen. */
function Shown() {
  const t = useTexts(meTexts);
  const { language, choose } = useLanguage();
  const look = useLook();
  return (
    <Flex vertical gap="middle">
      <Radio.Group
        aria-label={t("language")}
        value={language}
        onChange={(event) => choose(event.target.value as Language)}
        options={[
          { value: "zh", label: "中文" },
          { value: "en", label: "English" },
        ]}
      />
      <Radio.Group
        aria-label={t("look")}
        value={look.look}
        onChange={(event) => look.choose(event.target.value as Look)}
        options={(["system", "light", "dark"] as const).map((value) => ({ value, label: t(value) }))}
      />
    </Flex>
  );
}

function Password() {
  const t = useTexts(meTexts);
  const me = useMe();
  const { message } = App.useApp();
  const [form] = Form.useForm<Schemas["NewPassword"]>();
  const change = useMutation({
    mutationFn: (fields: Schemas["NewPassword"]) => api.POST("/api/me/password", { body: fields }),
    onSuccess: () => {
      form.resetFields();
      void message.success(t("changed"));
    },
  });
  const needed = [{ required: true, message: t("missing") }];
  return (
    <Form form={form} layout="vertical" onFinish={(fields) => change.mutate(fields)} style={{ maxWidth: 420 }}>
      {change.isError && <Problem error={change.error} />}
      <input type="text" name="username" autoComplete="username" value={me.login} readOnly hidden />
      <Form.Item name="old" label={t("old")} rules={needed}>
        <Input.Password autoComplete="current-password" maxLength={1000} />
      </Form.Item>
      <Form.Item name="new" label={t("fresh")} extra={t("rule")} rules={needed}>
        <Input.Password autoComplete="new-password" maxLength={200} />
      </Form.Item>
      <Button htmlType="submit" loading={change.isPending}>
        {t("password")}
      </Button>
    </Form>
  );
}
