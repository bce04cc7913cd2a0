import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App, Button, Form, Input, InputNumber, Segmented, Typography } from "antd";
import { useState } from "react";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { Problem } from "@/ui/Problem";
import type { Cell } from "./lines";
import { bookTexts } from "./texts";

type Kind = "bonus" | "override" | "comment";
const KINDS = ["bonus", "override", "comment"] as const;

interface Props {
  cohort: string;
  lab: string;
  login: string;
  cell: Cell | undefined;
}

/** A bonus, an override or a comment, each with its words for the student. */
export function Decide({ cohort, lab, login, cell }: Props) {
  const t = useTexts(bookTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const [form] = Form.useForm<{ points?: number; text: string }>();
  const [kind, setKind] = useState<Kind>("bonus");
  const save = useMutation({
    mutationFn: (fields: { points?: number; text: string }) =>
      body(
        api.POST("/api/cohorts/{cohort}/labs/{lab}/adjustments", {
          params: { path: { cohort, lab } },
          body: { login, kind, points: kind === "comment" ? null : (fields.points ?? null), text: fields.text },
        }),
      ),
    onSuccess: () => {
      form.resetFields();
      void message.success(t("saved"));
      void queries.invalidateQueries({ queryKey: ["gradebook", cohort] });
      void queries.invalidateQueries({ queryKey: ["adjustments", cohort, lab, login] });
    },
  });
  const isThere = kind === "comment" ? Boolean(cell?.comment) : cell?.[kind] !== null && cell?.[kind] !== undefined;
  return (
    <section>
      <Typography.Title level={2} style={{ fontSize: 16 }}>
        {t("decide")}
      </Typography.Title>
      {save.isError && <Problem error={save.error} />}
      <Form name="decide" form={form} layout="vertical" onFinish={(fields) => save.mutate(fields)}>
        <Form.Item label={t("kind")} extra={isThere ? t("replaces") : undefined}>
          <Segmented<Kind>
            aria-label={t("kind")}
            value={kind}
            onChange={setKind}
            options={KINDS.map((one) => ({ value: one, label: t(one) }))}
          />
        </Form.Item>
        {kind !== "comment" && (
          <Form.Item
            name="points"
            label={t("pointsOf")}
            extra={t(kind === "bonus" ? "bonusHint" : "overrideHint")}
            rules={[{ required: true, message: t("missing") }]}
          >
            <InputNumber
              step={1}
              min={kind === "override" ? 0 : -10_000}
              max={10_000}
              precision={2}
              style={{ width: 160 }}
            />
          </Form.Item>
        )}
        <Form.Item
          name="text"
          label={t(kind === "comment" ? "words" : "why")}
          rules={[{ required: true, whitespace: true, message: t("missing") }]}
        >
          <Input.TextArea rows={2} maxLength={2000} />
        </Form.Item>
        <Button type="primary" htmlType="submit" loading={save.isPending}>
          {t("save")}
        </Button>
      </Form>
    </section>
  );
}
