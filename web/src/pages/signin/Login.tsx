import { useMutation, useQuery } from "@tanstack/react-query";
import { Alert, Button, Divider, Flex, Form, Input } from "antd";
import { useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { ApiError, api, body, session } from "@/api/client";
import { queries } from "@/api/query";
import { either, useLanguage, useTexts } from "@/i18n";
import { Problem } from "@/ui/Problem";
import { safeNext } from "./next";
import { SigninCard } from "./SigninCard";
import { refusalOf, signinTexts } from "./texts";

interface Fields {
  login: string;
  password: string;
}

export default function Login() {
  const t = useTexts(signinTexts);
  const { language } = useLanguage();
  const go = useNavigate();
  const [search] = useSearchParams();
  const next = safeNext(search.get("next"), location.origin);
  const methods = useQuery({ queryKey: ["methods"], queryFn: () => body(api.GET("/api/auth/methods")) });
  const elsewhere = (methods.data ?? []).filter((method) => method.start_url);
  const here = (methods.data ?? []).filter((method) => !method.start_url);
  const [method, setMethod] = useState<string>();
  const chosen = method ?? here[0]?.name ?? "local";
  const signIn = useMutation({
    mutationFn: (fields: Fields) => body(api.POST("/api/auth/login", { body: { ...fields, method: chosen } })),
    onSuccess: (found) => {
      session.csrf = found.csrf ?? null;
      queries.clear();
      queries.setQueryData(["me"], { ...found.me, csrf: found.csrf });
      void go(next, { replace: true });
    },
    onError: (error, fields) => {
      if (error instanceof ApiError && error.reason === "activate_first")
        void go("/activate", { state: { login: fields.login, code: fields.password } });
    },
  });
  const refused = search.get("refused");
  return (
    <SigninCard title={t("signIn")}>
      {refused && <Alert type="warning" showIcon role="alert" title={t(refusalOf(refused))} />}
      {signIn.isError && <Problem error={signIn.error} />}
      {elsewhere.length > 0 && (
        <Flex vertical gap="small" style={{ marginTop: 12 }}>
          {elsewhere.map((one) => (
            <Button key={one.name} block href={`${one.start_url}?next=${encodeURIComponent(next)}`}>
              {either(one.title_zh, one.title_en, language)}
            </Button>
          ))}
          <Divider plain>{t("others")}</Divider>
        </Flex>
      )}
      <Form<Fields> layout="vertical" requiredMark={false} onFinish={(fields) => signIn.mutate(fields)}>
        {here.length > 1 && (
          <Flex gap="small" wrap role="radiogroup" style={{ marginBottom: 12 }}>
            {here.map((one) => (
              <Button
                key={one.name}
                role="radio"
                aria-checked={one.name === chosen}
                type={one.name === chosen ? "primary" : "default"}
                onClick={() => setMethod(one.name)}
              >
                {either(one.title_zh, one.title_en, language)}
              </Button>
            ))}
          </Flex>
        )}
        <Form.Item
          name="login"
          label={t("login")}
          extra={t("loginHint")}
          rules={[{ required: true, message: t("missing") }]}
        >
          <Input autoComplete="username" autoCapitalize="none" autoFocus maxLength={100} />
        </Form.Item>
        <Form.Item name="password" label={t("password")} rules={[{ required: true, message: t("missing") }]}>
          <Input.Password autoComplete="current-password" maxLength={1000} />
        </Form.Item>
        <Button type="primary" htmlType="submit" block loading={signIn.isPending}>
          {t("signIn")}
        </Button>
      </Form>
      <p>
        <Link to="/activate">{t("first")}</Link>
      </p>
    </SigninCard>
  );
}
