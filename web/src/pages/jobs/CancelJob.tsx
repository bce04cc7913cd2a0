import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App, Button, Popconfirm } from "antd";
import { ApiError, api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { jobTexts } from "./texts";

type Job = Schemas["Job"];

export const OPEN = new Set(["PENDING", "RUNNING", "UNKNOWN"]);

/** Ends a job that waits or runs, after asking; of an array all of them where `whole`. */
export function CancelJob({ job, whole = false }: { job: Job; whole?: boolean }) {
  const t = useTexts(jobTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: async (): Promise<void> => {
      if (whole && job.array)
        await body(api.POST("/api/arrays/{array_id}/cancel", { params: { path: { array_id: job.array } } }));
      else await body(api.POST("/api/jobs/{job_id}/cancel", { params: { path: { job_id: job.id } } }));
    },
    onSuccess: () => {
      void message.success(t("cancelled"));
      void queries.invalidateQueries({ queryKey: ["jobs"] });
      void queries.invalidateQueries({ queryKey: ["job", job.id] });
      void queries.invalidateQueries({ queryKey: ["array"] });
    },
    onError: (error) => {
      const told = error instanceof ApiError ? [error.message, error.hint].filter(Boolean).join(" — ") : String(error);
      void message.error(told);
    },
  });
  if (!whole && !OPEN.has(job.state)) return null;
  return (
    <Popconfirm
      title={t("cancelAsk", { name: job.name })}
      okText={whole ? t("cancelAll") : t("cancel")}
      cancelText={t("keep")}
      okButtonProps={{ danger: true }}
      onConfirm={() => cancel.mutate()}
    >
      <Button danger loading={cancel.isPending}>
        {whole ? t("cancelAll") : t("cancel")}
      </Button>
    </Popconfirm>
  );
}
