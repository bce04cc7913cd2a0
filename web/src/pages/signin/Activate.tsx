import { useMutation } from "@tanstack/react-query";
import { Button, Form, Input, Typography } from "antd";
import { Link, useLocation, useNavigate, useSearchParams } from "react-router";
import { api, body, session } from "@/api/client";
import { queries } from "@/api/query";
import { useTexts } from "@/i18n";
import { Problem } from "@/ui/Problem";
import { SigninCard } from "./SigninCard";
import { signinTexts } from "./texts";

interface Fields {
  login: string;
  code: string;
  password: string;
  again: string;
}

/** The one-time code becomes a password of one's own, and one is signed in. */
export default function Activate() {
  const t = useTexts(signinTexts);
  const go = useNavigate();
  const [search] = useSearchParams();
  const brought = (useLocation().state ?? {}) as Partial<Fields>;
  const activate = useMutation({
    mutationFn: async ({ login, code, password }: Fields) => {
      await api.POST("/api/auth/activate", { body: { login, code, password } });
      return body(api.POST("/api/auth/login", { body: { login, password } }));
    },
    onSuccess: (found) => {
      session.csrf = found.csrf ?? null;
      queries.clear();
      queries.setQueryData(["me"], { ...found.me, csrf: found.csrf });
      void go("/", { replace: true });
    },
  });
  const needed = [{ required: true, message: t("missing") }];
  return (
    <SigninCard title={t("activate")}>
      <Typography.Paragraph type="secondary">{t("activateLead")}</Typography.Paragraph>
      {activate.isError && <Problem error={activate.error} />}
      <Form<Fields>
        layout="vertical"
        requiredMark={false}
        initialValues={{ login: brought.login ?? search.get("login") ?? "", code: brought.code ?? "" }}
        onFinish={(fields) => activate.mutate(fields)}
      >
        <Form.Item name="login" label={t("login")} extra={t("loginHint")} rules={needed}>
          <Input autoComplete="username" autoCapitalize="none" maxLength={100} />
        </Form.Item>
        <Form.Item name="code" label={t("code")} rules={needed}>
          <Input autoComplete="one-time-code" autoCapitalize="characters" maxLength={200} />
        </Form.Item>
        <Form.Item name="password" label={t("newPassword")} extra={t("passwordRule")} rules={needed}>
          <Input.Password autoComplete="new-password" maxLength={200} />
        </Form.Item>
        <Form.Item
          name="again"
          label={t("again")}
          dependencies={["password"]}
          rules={[
            ...needed,
            ({ getFieldValue }) => ({
              validator: (_, value) =>
                !value || value === getFieldValue("password")
                  ? Promise.resolve()
                  : Promise.reject(new Error(t("notSame"))),
            }),
          ]}
        >
          <Input.Password autoComplete="new-password" maxLength={200} />
        </Form.Item>
        <Button type="primary" htmlType="submit" block loading={activate.isPending}>
          {t("activate")}
        </Button>
      </Form>
      <p>
        <Link to="/login">{t("toLogin")}</Link>
      </p>
    </SigninCard>
  );
}
