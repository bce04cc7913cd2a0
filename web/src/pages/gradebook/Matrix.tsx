import { CommentOutlined, EditOutlined, FieldTimeOutlined } from "@ant-design/icons";
import { Button, Empty, Flex, Grid, Pagination, Table, type TableColumnsType, Tag, Typography } from "antd";
import { useState } from "react";
import { useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { plain } from "@/ui/tags";
import type { LabName } from "./GradeBook";
import { type Line, meanOf, rankOf } from "./lines";
import { bookTexts } from "./texts";

interface Props {
  lines: Line[];
  labs: LabName[];
  onOpen: (login: string, lab: string) => void;
}

const PAGES = { defaultPageSize: 50, pageSizeOptions: [50, 100, 500], showSizeChanger: true, hideOnSinglePage: true };

/** People by labs; a click on a cell opens it. */
export function Matrix({ lines, labs, onOpen }: Props) {
  const t = useTexts(bookTexts);
  const isWide = Grid.useBreakpoint().md ?? true;
  if (lines.length === 0) return <Empty description={t("nobody")} />;
  if (!isWide) return <Cards lines={lines} labs={labs} onOpen={onOpen} />;
  const columns: TableColumnsType<Line> = [
    {
      key: "name",
      title: t("name"),
      fixed: "left",
      width: 150,
      rowScope: "row",
      sorter: (a, b) => a.name.localeCompare(b.name),
      render: (_, line) => <Name line={line} />,
    },
    {
      key: "number",
      title: t("number"),
      width: 140,
      sorter: (a, b) => (a.student_number ?? "").localeCompare(b.student_number ?? ""),
      render: (_, line) => line.student_number ?? line.login,
    },
    ...labs.map((lab) => ({
      key: `lab:${lab.slug}`,
      title: <Heading lab={lab} mean={meanOf(lines, lab.slug)} />,
      align: "right" as const,
      width: 130,
      sorter: (a: Line, b: Line) => rankOf(a.grades[lab.slug]) - rankOf(b.grades[lab.slug]),
      render: (_: unknown, line: Line) => <CellButton line={line} lab={lab} onOpen={onOpen} />,
    })),
    {
      key: "total",
      title: t("total"),
      align: "right",
      width: 90,
      fixed: "right",
      sorter: (a, b) => a.total - b.total,
      render: (_, line) => <strong>{plain(line.total)}</strong>,
    },
  ];
  return (
    <Table<Line>
      aria-label={t("title")}
      dataSource={lines}
      columns={columns}
      rowKey={(line) => line.login}
      size="small"
      pagination={PAGES}
      showSorterTooltip={false}
      scroll={{ x: "max-content" }}
    />
  );
}

function Heading({ lab, mean }: { lab: LabName; mean: number | null }) {
  const t = useTexts(bookTexts);
  return (
    <div style={{ maxWidth: 160, whiteSpace: "normal" }}>
      {lab.title}
      {mean !== null && (
        <div>
          <Typography.Text type="secondary" style={{ fontWeight: 400, fontSize: 13 }}>
            {t("mean", { n: plain(mean, 1) })}
          </Typography.Text>
        </div>
      )}
    </div>
  );
}

function Name({ line }: { line: Line }) {
  const t = useTexts(bookTexts);
  return (
    <span style={{ overflowWrap: "anywhere" }}>
      {line.name} {line.section && <Tag>{line.section}</Tag>} {!line.active && <Tag color="warning">{t("gone")}</Tag>}
    </span>
  );
}

function CellButton({ line, lab, onOpen }: { line: Line; lab: LabName; onOpen: Props["onOpen"] }) {
  const t = useTexts(bookTexts);
  const cell = line.grades[lab.slug];
  const points = cell?.points === null || cell?.points === undefined ? null : plain(cell.points);
  return (
    <Button
      type="text"
      size="small"
      aria-label={t("open", { name: line.name, lab: lab.title, points: points ?? t("nothing") })}
      onClick={() => onOpen(line.login, lab.slug)}
    >
      {points ?? "—"}
      {cell && (cell.penalty > 0 || cell.days_late > 0) && <FieldTimeOutlined aria-label={t("late")} />}
      {cell && (cell.override !== null || cell.bonus !== null) && <EditOutlined aria-label={t("decided")} />}
      {cell?.comment && <CommentOutlined aria-label={t("commented")} />}
    </Button>
  );
}

const CARDS = 20;

function Cards({ lines, labs, onOpen }: Props) {
  const t = useTexts(bookTexts);
  const [page, setPage] = useState(1);
  const last = Math.max(1, Math.ceil(lines.length / CARDS));
  const at = Math.min(page, last);
  return (
    <>
      <DataList
        rows={lines.slice((at - 1) * CARDS, at * CARDS)}
        rowKey={(line) => line.login}
        label={t("title")}
        columns={[
          { key: "name", title: t("name"), render: (line) => <Name line={line} /> },
          { key: "number", title: t("number"), render: (line) => line.student_number ?? line.login },
          ...labs.map((lab) => ({
            key: `lab:${lab.slug}`,
            title: lab.title,
            render: (line: Line) => <CellButton line={line} lab={lab} onOpen={onOpen} />,
          })),
          { key: "total", title: t("total"), render: (line) => <Flex>{plain(line.total)}</Flex> },
        ]}
      />
      <Pagination
        simple
        align="center"
        current={at}
        pageSize={CARDS}
        total={lines.length}
        onChange={setPage}
        hideOnSinglePage
        showSizeChanger={false}
      />
    </>
  );
}
