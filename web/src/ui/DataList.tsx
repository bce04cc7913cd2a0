import { Button, Card, Checkbox, Flex, Grid, Table, type TableColumnsType, type TableProps, Typography } from "antd";
import { type Key, type ReactNode, useState } from "react";
import { useTexts } from "@/i18n";
import { uiTexts } from "./texts";

/** How many cards a phone shows at first, and with each touch more. */
const CARDS = 30;

export interface Column<T> {
  key: string;
  title: string;
  render: (row: T) => ReactNode;
  /** Left out of the cards of a phone. */
  wideOnly?: boolean;
  width?: number | string;
  align?: "left" | "right" | "center";
  sorter?: (a: T, b: T) => number;
}

interface Props<T> {
  rows: readonly T[];
  columns: Column<T>[];
  rowKey: (row: T) => Key;
  /** For screen readers: what is listed. */
  label: string;
  empty?: ReactNode;
  loading?: boolean;
  pagination?: TableProps<T>["pagination"];
  highlight?: (row: T) => boolean;
  selection?: TableProps<T>["rowSelection"];
}

/** A table on a wide screen, a card a row on a phone. */
export function DataList<T extends object>(props: Props<T>) {
  const { rows, columns, rowKey, label, empty, loading, pagination = false, highlight, selection } = props;
  const t = useTexts(uiTexts);
  const [shownCards, setShownCards] = useState(CARDS);
  const isWide = Grid.useBreakpoint().md ?? true;
  const shown: TableColumnsType<T> = columns.map((column) => ({
    key: column.key,
    title: column.title,
    width: column.width,
    align: column.align,
    sorter: column.sorter,
    render: (_: unknown, row: T) => column.render(row),
  }));
  if (isWide)
    return (
      <Table<T>
        aria-label={label}
        dataSource={[...rows]}
        columns={shown}
        rowKey={rowKey}
        loading={loading}
        pagination={pagination}
        rowSelection={selection}
        size="middle"
        scroll={{ x: "max-content" }}
        locale={empty ? { emptyText: <Typography.Text type="secondary">{empty}</Typography.Text> } : undefined}
        onRow={(row) => (highlight?.(row) ? { "aria-current": true, style: { fontWeight: 600 } } : {})}
      />
    );
  if (rows.length === 0 && !loading) return <>{empty}</>;
  const cards = columns.filter((column) => !column.wideOnly);
  return (
    <Flex vertical gap="small" component="ul" aria-label={label} style={{ margin: 0, padding: 0, listStyle: "none" }}>
      {rows.slice(0, shownCards).map((row) => (
        <li key={rowKey(row)}>
          <Card
            size="small"
            extra={selection && <Choose row={row} rowKey={rowKey} selection={selection} />}
            style={highlight?.(row) ? { borderWidth: 2 } : undefined}
          >
            {cards.map((column) => (
              <Flex key={column.key} justify="space-between" gap="small" wrap>
                <Typography.Text type="secondary">{column.title}</Typography.Text>
                <div style={{ overflowWrap: "anywhere", minWidth: 0 }}>{column.render(row)}</div>
              </Flex>
            ))}
          </Card>
        </li>
      ))}
      {rows.length > shownCards && (
        <li>
          <Button block onClick={() => setShownCards(shownCards + CARDS)}>
            {t("showMore", { n: rows.length - shownCards })}
          </Button>
        </li>
      )}
    </Flex>
  );
}

interface ChooseProps<T> {
  row: T;
  rowKey: (row: T) => Key;
  selection: NonNullable<TableProps<T>["rowSelection"]>;
}

/** The check box of a card, as a table has it at the beginning of a row. */
function Choose<T extends object>({ row, rowKey, selection }: ChooseProps<T>) {
  const key = rowKey(row);
  const keys = selection.selectedRowKeys ?? [];
  return (
    <Checkbox
      {...selection.getCheckboxProps?.(row)}
      checked={keys.includes(key)}
      onChange={(event) => {
        const chosen = event.target.checked ? [...keys, key] : keys.filter((one) => one !== key);
        selection.onChange?.(chosen, [], { type: "single" });
      }}
    />
  );
}
