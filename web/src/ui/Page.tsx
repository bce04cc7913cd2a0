import { Flex, Typography } from "antd";
import { type ReactNode, useEffect } from "react";

interface Props {
  title: string;
  /** Beside the title: what can be done here. */
  extra?: ReactNode;
  /** Above the title: where one is. */
  above?: ReactNode;
  children: ReactNode;
}

/** A page with its heading, which also names the tab. */
export function Page({ title, extra, above, children }: Props) {
  useEffect(() => {
    document.title = `${title} · 千卡 Qianka`;
  }, [title]);
  return (
    <Flex vertical gap="middle">
      <div>
        {above && <Typography.Text type="secondary">{above}</Typography.Text>}
        <Flex wrap justify="space-between" align="center" gap="small">
          <Typography.Title level={1} style={{ fontSize: 24, margin: 0, overflowWrap: "anywhere" }}>
            {title}
          </Typography.Title>
          {extra && (
            <Flex wrap gap="small">
              {extra}
            </Flex>
          )}
        </Flex>
      </div>
      {children}
    </Flex>
  );
}
