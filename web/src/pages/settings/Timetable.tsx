import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Card, Flex, Form, Input, Select, Typography } from "antd";
import { useTexts } from "@/i18n";
import type { ClassFields } from "./fields";
import { settingsTexts } from "./texts";

const WEEK = [1, 2, 3, 4, 5, 6, 7] as const;

/** The days of the week, from Monday. */
export function useDays(): { value: number; label: string }[] {
  const t = useTexts(settingsTexts);
  return WEEK.map((day) => ({ value: day, label: t(`day${day}`) }));
}

/** The classes of a week, a line each; part of the form of the cohort. */
export function Timetable() {
  const t = useTexts(settingsTexts);
  return (
    <Card size="small" title={t("timetable")}>
      <Typography.Paragraph type="secondary">{t("timetableLead")}</Typography.Paragraph>
      <Form.List name="class_times">
        {(lines, { add, remove }) => (
          <Flex vertical gap="small">
            {lines.map((line, at) => (
              <Line key={line.key} name={line.name} number={at + 1} onRemove={() => remove(line.name)} />
            ))}
            <div>
              <Button
                icon={<PlusOutlined />}
                disabled={lines.length >= 40}
                onClick={() => add({ weekday: 1, start: "08:00", end: "09:35", place: "" } satisfies ClassFields)}
              >
                {t("addClass")}
              </Button>
            </div>
          </Flex>
        )}
      </Form.List>
    </Card>
  );
}

function Line({ name, number, onRemove }: { name: number; number: number; onRemove: () => void }) {
  const t = useTexts(settingsTexts);
  const days = useDays();
  const needed = { required: true, message: t("missing") };
  return (
    <Flex gap="small" wrap align="end">
      <Form.Item name={[name, "weekday"]} label={t("weekDay")} style={{ minWidth: 120, margin: 0 }}>
        <Select options={days} />
      </Form.Item>
      <Form.Item name={[name, "start"]} label={t("from")} rules={[needed]} style={{ margin: 0 }}>
        <Input type="time" style={{ width: 120 }} />
      </Form.Item>
      <Form.Item
        name={[name, "end"]}
        label={t("to")}
        dependencies={[["class_times", name, "start"]]}
        rules={[
          needed,
          ({ getFieldValue }) => ({
            validator: (_, end: string) =>
              !end || end > getFieldValue(["class_times", name, "start"])
                ? Promise.resolve()
                : Promise.reject(new Error(t("order"))),
          }),
        ]}
        style={{ margin: 0 }}
      >
        <Input type="time" style={{ width: 120 }} />
      </Form.Item>
      <Form.Item name={[name, "place"]} label={t("place")} style={{ margin: 0, flex: "1 1 120px", maxWidth: 220 }}>
        <Input maxLength={60} />
      </Form.Item>
      <Button icon={<DeleteOutlined />} aria-label={t("removeOf", { n: number })} onClick={onRemove} />
    </Flex>
  );
}
