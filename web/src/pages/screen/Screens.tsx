import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Card, Flex, Popconfirm, Typography } from "antd";
import { useState } from "react";
import { useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { CopyText } from "@/ui/CopyText";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { SCENES, ScreenForm } from "./ScreenForm";
import { screenTexts } from "./texts";

const nameOf = (screen: Schemas["Screen"]) => screen.name || `#${screen.id}`;

/** The projectors of a cohort: links are made here, and revoked. */
export default function Screens() {
  const t = useTexts(screenTexts);
  const me = useMe();
  const queries = useQueryClient();
  const { cohort = "" } = useParams();
  const path = { cohort };
  const [changing, setChanging] = useState<Schemas["Screen"]>();
  const screens = useQuery({
    queryKey: ["screens", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/screens", { params: { path } })),
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ["screens", cohort] });
  const make = useMutation({
    mutationFn: (fields: Schemas["NewScreen"]) =>
      body(api.POST("/api/cohorts/{cohort}/screens", { params: { path }, body: fields })),
    onSuccess: refresh,
  });
  const change = useMutation({
    mutationFn: ({ id, fields }: { id: number; fields: Schemas["NewScreen"] }) =>
      body(
        api.PUT("/api/cohorts/{cohort}/screens/{screen_id}", {
          params: { path: { cohort, screen_id: id } },
          body: fields,
        }),
      ),
    onSuccess: () => {
      setChanging(undefined);
      return refresh();
    },
  });
  const revoke = useMutation({
    mutationFn: (id: number) =>
      api.DELETE("/api/cohorts/{cohort}/screens/{screen_id}", { params: { path: { cohort, screen_id: id } } }),
    onSuccess: refresh,
  });
  // Behind the #: a browser sends it to nobody, so that no log keeps it.
  const link = make.data && `${location.origin}/screen/${cohort}#${make.data.secret}`;
  return (
    <Page title={t("screens")} above={me.cohorts.find((one) => one.cohort === cohort)?.title ?? cohort}>
      <Typography.Text type="secondary">{t("lead")}</Typography.Text>
      {link && (
        <Alert
          type="success"
          showIcon
          title={t("once")}
          description={
            <Flex vertical gap="small">
              <CopyText text={link} />
              <Button href={link} target="_blank" style={{ alignSelf: "start" }}>
                {t("open")}
              </Button>
            </Flex>
          }
        />
      )}
      {change.isSuccess && !changing && <Alert type="success" showIcon title={t("changed")} />}
      <Card title={changing ? t("changing", { name: nameOf(changing) }) : t("make")}>
        <Flex vertical gap="middle">
          <ScreenForm
            key={changing?.id ?? "new"}
            of={changing}
            isSaving={make.isPending || change.isPending}
            onSave={(fields) => (changing ? change.mutate({ id: changing.id, fields }) : make.mutate(fields))}
            {...(changing ? { onCancel: () => setChanging(undefined) } : {})}
          />
          {make.isError && <Problem error={make.error} />}
          {change.isError && <Problem error={change.error} />}
        </Flex>
      </Card>
      {revoke.isError && <Problem error={revoke.error} />}
      <Answer of={screens} empty={t("none")}>
        {(rows) => (
          <DataList
            rows={rows}
            rowKey={(row) => row.id}
            label={t("screens")}
            columns={[
              { key: "name", title: t("name"), render: nameOf },
              {
                key: "scenes",
                title: t("scenes"),
                render: (row) => (
                  <div style={{ maxWidth: 220, whiteSpace: "normal" }}>
                    {row.scenes.map((one) => t(SCENES.find((known) => known === one) ?? "scenes")).join(" · ")}
                  </div>
                ),
              },
              {
                key: "used",
                title: t("used"),
                render: (row) => (row.last_used_at ? <Moment at={row.last_used_at} /> : t("never")),
              },
              { key: "expires", title: t("expires"), wideOnly: true, render: (row) => <Moment at={row.expires_at} /> },
              {
                key: "revoke",
                title: "",
                render: (row) => (
                  <Flex gap="small" wrap justify="end">
                    <Button size="small" onClick={() => setChanging(row)}>
                      {t("change")}
                    </Button>
                    <Popconfirm title={t("revokeAsk")} onConfirm={() => revoke.mutate(row.id)}>
                      <Button size="small" danger>
                        {t("revoke")}
                      </Button>
                    </Popconfirm>
                  </Flex>
                ),
              },
            ]}
          />
        )}
      </Answer>
    </Page>
  );
}
