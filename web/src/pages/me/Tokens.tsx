import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Card, Flex, Form, Input, Popconfirm, Typography } from "antd";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { CopyText } from "@/ui/CopyText";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { meTexts } from "./texts";

const KEY = ["tokens"];

export default function Tokens() {
  const t = useTexts(meTexts);
  const queries = useQueryClient();
  const tokens = useQuery({
    queryKey: KEY,
    queryFn: async () => (await body(api.GET("/api/tokens"))).filter((token) => token.kind === "bearer"),
  });
  const again = () => queries.invalidateQueries({ queryKey: KEY });
  const make = useMutation({
    mutationFn: (fields: { note?: string }) => body(api.POST("/api/tokens", { body: { note: fields.note ?? "" } })),
    onSuccess: again,
  });
  const revoke = useMutation({
    mutationFn: (id: number) => api.DELETE("/api/tokens/{token_id}", { params: { path: { token_id: id } } }),
    onSuccess: again,
  });
  return (
    <Page title={t("tokens")}>
      <Typography.Text type="secondary">{t("tokensLead")}</Typography.Text>
      <Card size="small">
        <Form layout="inline" onFinish={(fields) => make.mutate(fields)} style={{ gap: 8 }}>
          <Form.Item name="note" label={t("note")}>
            <Input placeholder={t("noteExample")} maxLength={200} />
          </Form.Item>
          <Button type="primary" htmlType="submit" loading={make.isPending}>
            {t("make")}
          </Button>
        </Form>
      </Card>
      {make.isError && <Problem error={make.error} />}
      {revoke.isError && <Problem error={revoke.error} />}
      {make.data && (
        <Alert
          type="success"
          title={t("secret")}
          description={
            <Flex vertical gap="small">
              <CopyText text={make.data.secret} />
              <Typography.Text type="secondary">{t("useIt")}</Typography.Text>
              <CopyText text={`curl -H "Authorization: Bearer $TOKEN" ${location.origin}/api/me`} />
            </Flex>
          }
        />
      )}
      <Answer of={tokens} empty={t("noTokens")}>
        {(rows) => (
          <DataList
            rows={rows}
            rowKey={(row) => row.id}
            label={t("tokens")}
            columns={[
              { key: "note", title: t("note"), render: (row) => row.note || "—" },
              { key: "created", title: t("created"), wideOnly: true, render: (row) => <Moment at={row.created_at} /> },
              { key: "expires", title: t("expires"), render: (row) => <Moment at={row.expires_at} /> },
              {
                key: "used",
                title: t("used"),
                render: (row) => (row.last_used_at ? <Moment at={row.last_used_at} countdown /> : t("never")),
              },
              {
                key: "revoke",
                title: "",
                render: (row) => (
                  <Popconfirm title={t("revokeAsk")} onConfirm={() => revoke.mutate(row.id)}>
                    <Button size="small" danger>
                      {t("revoke")}
                    </Button>
                  </Popconfirm>
                ),
              },
            ]}
          />
        )}
      </Answer>
    </Page>
  );
}
