import { Card, type CardProps } from "antd";
import type { ReactNode } from "react";
import { Link } from "react-router";

interface Props {
  title: string;
  /** Where the whole of it is. */
  to?: string;
  all?: string;
  children: ReactNode;
}

const FULL: CardProps["style"] = { height: "100%" };

/** A part of the first page. */
export function Box({ title, to, all, children }: Props) {
  return (
    <Card size="small" title={title} style={FULL} extra={to && <Link to={to}>{all}</Link>}>
      {children}
    </Card>
  );
}

/** Lines of a box, with space between them. */
export function Lines({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} style={{ margin: 0, padding: 0, listStyle: "none", display: "grid", gap: 10 }}>
      {children}
    </ul>
  );
}
