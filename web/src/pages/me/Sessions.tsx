import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Popconfirm, Tag, Typography } from "antd";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { deviceOf } from "./device";
import { meTexts } from "./texts";

const KEY = ["sessions"];

export default function Sessions() {
  const t = useTexts(meTexts);
  const queries = useQueryClient();
  const sessions = useQuery({ queryKey: KEY, queryFn: () => body(api.GET("/api/me/sessions")) });
  const end = useMutation({
    mutationFn: async (id: number | null) => {
      if (id === null) await api.DELETE("/api/me/sessions");
      else await api.DELETE("/api/me/sessions/{session_id}", { params: { path: { session_id: id } } });
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Page
      title={t("sessions")}
      extra={
        (sessions.data?.length ?? 0) > 1 && (
          <Button danger loading={end.isPending} onClick={() => end.mutate(null)}>
            {t("endOthers")}
          </Button>
        )
      }
    >
      <Typography.Text type="secondary">{t("sessionsLead")}</Typography.Text>
      {end.isError && <Problem error={end.error} />}
      <Answer of={sessions}>
        {(rows) => (
          <DataList
            rows={rows}
            rowKey={(row) => row.id}
            label={t("sessions")}
            highlight={(row) => row.current}
            columns={[
              {
                key: "device",
                title: t("device"),
                render: (row) => (
                  <>
                    {deviceOf(row.agent) ?? t("unknownDevice")} {row.current && <Tag color="success">{t("here")}</Tag>}
                  </>
                ),
              },
              { key: "address", title: t("address"), render: (row) => row.address ?? "—" },
              { key: "created", title: t("created"), wideOnly: true, render: (row) => <Moment at={row.created_at} /> },
              { key: "used", title: t("used"), render: (row) => <Moment at={row.last_used_at} countdown /> },
              {
                key: "end",
                title: "",
                render: (row) =>
                  !row.current && (
                    <Popconfirm title={t("endAsk")} onConfirm={() => end.mutate(row.id)}>
                      <Button size="small" danger>
                        {t("end")}
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
