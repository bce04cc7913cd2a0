import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Card, Form, Input, Modal } from "antd";
import { useState } from "react";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { GiveExtension } from "./GiveExtension";
import { teachTexts } from "./texts";

type Extension = Schemas["Extension"];

/** Who has more time in a lab, and why. */
export function LabExtensions({ lab }: { lab: Schemas["Lab"] }) {
  const t = useTexts(teachTexts);
  const [isGiving, setGiving] = useState(false);
  const [revoking, setRevoking] = useState<Extension | null>(null);
  const cohort = lab.cohort;
  const rows = useQuery({
    queryKey: ["extensions", cohort, lab.slug],
    queryFn: () =>
      body(api.GET("/api/cohorts/{cohort}/extensions", { params: { path: { cohort }, query: { lab: lab.slug } } })),
  });
  return (
    <Card title={t("extensions")} extra={<Button onClick={() => setGiving(true)}>{t("give")}</Button>}>
      <Answer of={rows} empty={t("noExtensions")}>
        {(found) => (
          <DataList
            rows={found}
            rowKey={(row) => row.id}
            label={t("extensions")}
            columns={[
              { key: "who", title: t("forWhom"), render: (row) => whoOf(row) },
              { key: "more", title: t("more"), render: (row) => `${row.more}${row.lab ? "" : ` · ${t("forAll")}`}` },
              { key: "reason", title: t("reason"), render: (row) => row.reason },
              {
                key: "by",
                title: t("since"),
                wideOnly: true,
                render: (row) => (
                  <>
                    {row.by && `${t("by", { who: row.by })} · `}
                    <Moment at={row.created_at} zone={lab.zone} />
                  </>
                ),
              },
              {
                key: "act",
                title: t("acts"),
                render: (row) => (
                  <Button
                    size="small"
                    aria-label={t("revokeTitle", { who: whoOf(row) })}
                    onClick={() => setRevoking(row)}
                  >
                    {t("revoke")}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Answer>
      {isGiving && <GiveExtension lab={lab} onClose={() => setGiving(false)} />}
      {revoking && <Revoke cohort={cohort} extension={revoking} onClose={() => setRevoking(null)} />}
    </Card>
  );
}

function whoOf(row: Extension): string {
  return row.section ?? row.name ?? row.login ?? "";
}

function Revoke({ cohort, extension, onClose }: { cohort: string; extension: Extension; onClose: () => void }) {
  const t = useTexts(teachTexts);
  const queries = useQueryClient();
  const [form] = Form.useForm<{ reason: string }>();
  const revoke = useMutation({
    mutationFn: ({ reason }: { reason: string }) =>
      body(
        api.POST("/api/cohorts/{cohort}/extensions/{extension}/revoke", {
          params: { path: { cohort, extension: extension.id } },
          body: { reason, preview: false },
        }),
      ),
    onSuccess: () => {
      for (const key of ["extensions", "gradebook"]) void queries.invalidateQueries({ queryKey: [key, cohort] });
      onClose();
    },
  });
  return (
    <Modal
      open
      title={t("revokeTitle", { who: whoOf(extension) })}
      okText={t("revoke")}
      confirmLoading={revoke.isPending}
      onOk={() => form.submit()}
      onCancel={onClose}
    >
      {revoke.isError && <Problem error={revoke.error} />}
      <Form name="revoke" form={form} layout="vertical" onFinish={(fields) => revoke.mutate(fields)}>
        <Form.Item
          name="reason"
          label={t("revokeWhy")}
          rules={[{ required: true, whitespace: true, message: t("missing") }]}
        >
          <Input maxLength={500} />
        </Form.Item>
      </Form>
    </Modal>
  );
}
