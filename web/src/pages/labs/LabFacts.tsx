import { Card, Descriptions, Flex, Grid, Tag, Typography } from "antd";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Moment } from "@/ui/Moment";
import { plain } from "@/ui/tags";
import { labTexts } from "./texts";

/** Dates, tries and how a lab is graded. */
export function LabFacts({ lab }: { lab: Schemas["Lab"] }) {
  const t = useTexts(labTexts);
  const isWide = Grid.useBreakpoint().sm ?? true;
  const mine = lab.mine;
  const due = mine?.due_at ?? lab.due_at;
  const locks = mine?.locks_at ?? lab.locks_at;
  const items = [
    {
      key: "due",
      label: t("due"),
      children: (
        <div>
          {due ? <Moment at={due} zone={lab.zone} countdown /> : t("noDue")}
          {mine?.extension && (
            <div>
              <Tag color="processing">{t("extended", { reason: mine.reason ?? "" })}</Tag>
            </div>
          )}
        </div>
      ),
    },
    locks && { key: "locks", label: t("locks"), children: <Moment at={locks} zone={lab.zone} countdown /> },
    mine && { key: "late", label: t("late"), children: mine.late_rule },
    lab.tries && { key: "tries", label: t("tries"), children: lab.tries.sentence },
    {
      key: "asks",
      label: t("asks"),
      children: (
        <Flex wrap gap={4}>
          {lab.checks.map((check) => (
            <Tag key={check.kind}>
              {check.kind in labTexts ? t(check.kind as keyof typeof labTexts) : check.kind}{" "}
              {t("points", { n: plain(check.weight) })}
            </Tag>
          ))}
        </Flex>
      ),
    },
    lab.required.length > 0 && {
      key: "required",
      label: t("required"),
      children: (
        <Flex wrap gap={4}>
          {lab.required.map((name) => (
            <Typography.Text key={name} code>
              {name}
            </Typography.Text>
          ))}
        </Flex>
      ),
    },
  ].filter((item) => !!item);
  return (
    <Card size="small">
      <Descriptions column={1} size="small" layout={isWide ? "horizontal" : "vertical"} items={items} />
    </Card>
  );
}
