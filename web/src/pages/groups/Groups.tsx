import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Card, Flex, Select, Typography } from "antd";
import { useState } from "react";
import { useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { sendFile } from "@/api/sendFile";
import { useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { DropFile } from "@/ui/DropFile";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { GroupRules } from "./GroupRules";
import { alone, type Group } from "./standing";
import { groupTexts } from "./texts";
import { type Scope, useScopes } from "./useScopes";

/** Groups of a cohort, for its staff: how they are formed, from a file, and who is in which. */
export default function Groups() {
  const t = useTexts(groupTexts);
  const { cohort = "" } = useParams();
  const title = useMe().cohorts.find((one) => one.cohort === cohort)?.title ?? cohort;
  const path = { cohort };
  const queries = useQueryClient();
  const scopes = useScopes(cohort);
  const rules = useQuery({
    queryKey: ["group-rules", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/group-rules", { params: { path } })),
  });
  const groups = useQuery({
    queryKey: ["groups", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/groups", { params: { path } })),
  });
  useLive([`staff:${cohort}`, `cohort:${cohort}`], (event) => {
    if (event.kind !== "group") return;
    for (const key of ["group-rules", "groups"]) void queries.invalidateQueries({ queryKey: [key, cohort] });
  });
  return (
    <Page title={t("groups")} above={title}>
      <Typography.Text type="secondary">{t("lead")}</Typography.Text>
      <Answer of={rules} isEmpty={() => false}>
        {(found) => <GroupRules cohort={cohort} rules={found} scopes={scopes} />}
      </Answer>
      <ImportGroups cohort={cohort} scopes={scopes} />
      <Card size="small" title={t("list")}>
        <Answer of={groups} empty={t("noGroups")}>
          {(found) => <Listed cohort={cohort} groups={found} scopes={scopes} />}
        </Answer>
      </Card>
    </Page>
  );
}

function ImportGroups({ cohort, scopes }: { cohort: string; scopes: Scope[] }) {
  const t = useTexts(groupTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [scope, setScope] = useState("");
  const send = useMutation({
    mutationFn: (file: File) =>
      sendFile<Schemas["Group"][]>(
        `/api/cohorts/${encodeURIComponent(cohort)}/groups/import?${new URLSearchParams({ scope })}`,
        file,
      ),
    onSuccess: (found) => {
      void message.success(t("imported", { n: found.length }));
      for (const key of ["group-rules", "groups"]) void queries.invalidateQueries({ queryKey: [key, cohort] });
    },
  });
  return (
    <Card size="small" title={t("import")}>
      <Flex vertical gap="small">
        <Select
          aria-label={t("scope")}
          value={scope}
          onChange={setScope}
          options={scopes.map((one) => ({ value: one.slug, label: one.title }))}
          style={{ maxWidth: 360 }}
        />
        <DropFile
          accept=".csv,.xlsx,.xls,.txt"
          hint={t("importHint")}
          disabled={send.isPending}
          onFile={(file) => send.mutate(file)}
        />
        {send.isError && <Problem error={send.error} />}
      </Flex>
    </Card>
  );
}

function Listed({ cohort, groups, scopes }: { cohort: string; groups: Group[]; scopes: Scope[] }) {
  const t = useTexts(groupTexts);
  const people = useQuery({
    queryKey: ["people", cohort, "first"],
    queryFn: () =>
      body(api.GET("/api/cohorts/{cohort}/people", { params: { path: { cohort }, query: { limit: 1000 } } })),
  });
  const used = [...new Set(groups.map((group) => group.scope))];
  return (
    <Flex vertical gap="large">
      {used.map((scope) => {
        const left = alone(people.data?.items ?? [], groups, scope);
        return (
          <Flex vertical gap="small" key={scope}>
            <Typography.Title level={2} style={{ fontSize: 16, margin: 0 }}>
              {scopes.find((one) => one.slug === scope)?.title ?? scope}
            </Typography.Title>
            <DataList
              rows={groups.filter((group) => group.scope === scope)}
              rowKey={(group) => group.id}
              label={t("list")}
              pagination={groups.length > 100 ? { pageSize: 100, showSizeChanger: false } : false}
              columns={[
                { key: "name", title: t("name"), render: (group) => group.name },
                { key: "alias", title: t("alias"), render: (group) => group.alias },
                { key: "members", title: t("members"), render: (group) => names(group.members) },
                { key: "invited", title: t("invited"), render: (group) => names(group.invited) },
              ]}
            />
            {left.length > 0 && (
              <Alert
                type="warning"
                title={t("alone", { n: left.length })}
                description={names(left.slice(0, 60)) + (left.length > 60 ? " …" : "")}
              />
            )}
          </Flex>
        );
      })}
    </Flex>
  );
}

function names(people: readonly { name: string; login: string }[]): string {
  return people.map((one) => `${one.name} (${one.login})`).join("、") || "—";
}
