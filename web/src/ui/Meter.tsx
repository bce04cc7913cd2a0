import { Flex, Progress, Typography } from "antd";

interface Props {
  /** What is measured; also for screen readers. */
  label: string;
  /** 0 to 100; null: not measured. */
  percent: number | null;
  /** What stands beside the bar, such as `3.2 / 8 h`. */
  text: string;
  /** Red when it is nearly full. */
  warns?: boolean;
}

/** How full or busy something is, with its figure. */
export function Meter({ label, percent, text, warns }: Props) {
  const shown = percent === null ? null : Math.max(0, Math.min(100, percent));
  const isFull = warns && shown !== null && shown >= 90;
  return (
    <div>
      <Flex justify="space-between" gap="small" wrap>
        <Typography.Text type="secondary">{label}</Typography.Text>
        <Typography.Text type={isFull ? "danger" : undefined}>{text}</Typography.Text>
      </Flex>
      {shown !== null && (
        <Progress
          percent={shown}
          showInfo={false}
          size="small"
          status={isFull ? "exception" : "normal"}
          aria-label={`${label}: ${text}`}
        />
      )}
    </div>
  );
}
