import { Button, Checkbox, Flex, Form, Input, InputNumber, Select } from "antd";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { screenTexts } from "./texts";

export const SCENES = ["board", "queue", "deadlines", "top", "jobs"] as const;
type Fields = Schemas["NewScreen"];
const FRESH: Fields = { name: "", scenes: SCENES.slice(0, 4), seconds: 15, jobs: [], always: false };

interface ScreenFormProps {
  /** The projector that is changed; without one, one is made. */
  of?: Schemas["Screen"] | undefined;
  isSaving: boolean;
  onSave: (fields: Fields) => void;
  onCancel?: () => void;
}

/** What a projector shows. */
export function ScreenForm({ of, isSaving, onSave, onCancel }: ScreenFormProps) {
  const t = useTexts(screenTexts);
  return (
    <Form<Fields>
      name="screen"
      layout="vertical"
      style={{ maxWidth: 520 }}
      initialValues={of ?? FRESH}
      onFinish={(fields) => onSave({ ...fields, name: of?.name ?? fields.name })}
    >
      {!of && (
        <Form.Item name="name" label={t("name")}>
          <Input maxLength={60} />
        </Form.Item>
      )}
      <Form.Item name="scenes" label={t("scenes")} rules={[{ required: true, message: t("scenes") }]}>
        <Select mode="multiple" options={SCENES.map((one) => ({ value: one, label: t(one) }))} />
      </Form.Item>
      <Form.Item name="seconds" label={t("seconds")} rules={[{ required: true, message: t("seconds") }]}>
        <InputNumber min={5} max={600} precision={0} />
      </Form.Item>
      <Form.Item name="jobs" label={t("jobIds")}>
        <Select mode="tags" maxCount={4} open={false} suffixIcon={null} tokenSeparators={[",", " "]} />
      </Form.Item>
      <Form.Item name="always" valuePropName="checked">
        <Checkbox>{t("always")}</Checkbox>
      </Form.Item>
      <Flex gap="small">
        <Button type="primary" htmlType="submit" loading={isSaving}>
          {of ? t("save") : t("make")}
        </Button>
        {onCancel && <Button onClick={onCancel}>{t("cancel")}</Button>}
      </Flex>
    </Form>
  );
}
