import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Form, Input, Modal, Typography } from "antd";
import { useNavigate } from "react-router";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { Problem } from "@/ui/Problem";
import { inquiryTexts } from "./texts";

interface Props {
  cohort: string;
  lab: string;
  /** What people call the lab. */
  title: string;
  onClose: () => void;
}

/** A student asks about the grade of a lab; ends on the page of the inquiry. */
export function AskDialog({ cohort, lab, title, onClose }: Props) {
  const t = useTexts(inquiryTexts);
  const go = useNavigate();
  const queries = useQueryClient();
  const [form] = Form.useForm<{ text: string }>();
  const ask = useMutation({
    mutationFn: ({ text }: { text: string }) =>
      body(
        api.POST("/api/cohorts/{cohort}/labs/{lab}/inquiries", { params: { path: { cohort, lab } }, body: { text } }),
      ),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ["inquiries", cohort] });
      void queries.invalidateQueries({ queryKey: ["grades"] });
      void go(`/c/${cohort}/inquiries/${made.inquiry.id}`);
    },
  });
  return (
    <Modal
      open
      title={t("askTitle", { lab: title })}
      okText={t("send")}
      confirmLoading={ask.isPending}
      onOk={() => form.submit()}
      onCancel={onClose}
    >
      <Typography.Paragraph type="secondary">{t("askHint")}</Typography.Paragraph>
      {ask.isError && <Problem error={ask.error} />}
      <Form name="ask" form={form} layout="vertical" onFinish={(fields) => ask.mutate(fields)}>
        <Form.Item name="text" label={t("write")} rules={[{ required: true, whitespace: true, message: t("missing") }]}>
          <Input.TextArea rows={4} maxLength={4000} showCount />
        </Form.Item>
      </Form>
    </Modal>
  );
}
