import { useQuery } from "@tanstack/react-query";
import { Descriptions, Drawer, Flex, Typography } from "antd";
import { Link } from "react-router";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { Moment } from "@/ui/Moment";
import { Points, plain } from "@/ui/tags";
import { Decide } from "./Decide";
import { Decisions } from "./Decisions";
import type { LabName } from "./GradeBook";
import type { Cell, Line } from "./lines";
import { bookTexts } from "./texts";

interface Props {
  cohort: string;
  line: Line;
  lab: LabName;
  onClose: () => void;
}

/** One grade: how it came about, and what staff decides about it. */
export function CellDrawer({ cohort, line, lab, onClose }: Props) {
  const t = useTexts(bookTexts);
  const cell = line.grades[lab.slug];
  return (
    <Drawer
      open
      size={520}
      title={t("of", { name: line.name, lab: lab.title })}
      onClose={onClose}
      styles={{ wrapper: { maxWidth: "100vw" } }}
    >
      <Flex vertical gap="large">
        {cell && <Facts cell={cell} />}
        <Flex wrap gap="middle">
          {cell?.attempt && <Link to={`/attempts/${cell.attempt}`}>{t("attempt")}</Link>}
          <Link to={`/c/${cohort}/submissions?lab=${lab.slug}&words=${encodeURIComponent(line.login)}`}>
            {t("handIns")}
          </Link>
        </Flex>
        <Decide cohort={cohort} lab={lab.slug} login={line.login} cell={cell} />
        <Decisions cohort={cohort} lab={lab.slug} login={line.login} />
        <History cohort={cohort} lab={lab.slug} login={line.login} />
      </Flex>
    </Drawer>
  );
}

function Facts({ cell }: { cell: Cell }) {
  const t = useTexts(bookTexts);
  const items = [{ key: "counts", label: t("counts"), children: <Points points={cell.points} of={cell.max_points} /> }];
  const add = (key: "raw" | "penalty" | "lateDays", text: string) =>
    items.push({ key, label: t(key), children: <span>{text}</span> });
  if (cell.raw_points !== null) add("raw", plain(cell.raw_points));
  if (cell.penalty > 0 || cell.days_late > 0)
    add("penalty", `−${plain(cell.penalty)} · ${t("daysLate", { d: cell.days_late })}`);
  if (cell.late_days > 0) add("lateDays", plain(cell.late_days));
  return <Descriptions column={1} size="small" items={items} />;
}

const WHY = ["graded", "rerun", "dates", "extension", "late_days", "regrade"] as const;

function History({ cohort, lab, login }: { cohort: string; lab: string; login: string }) {
  const t = useTexts(bookTexts);
  const changes = useQuery({
    queryKey: ["grade-changes", cohort, lab, login],
    queryFn: () =>
      body(
        api.GET("/api/cohorts/{cohort}/labs/{lab}/grade-changes", {
          params: { path: { cohort, lab }, query: { login } },
        }),
      ),
  });
  return (
    <section>
      <Typography.Title level={2} style={{ fontSize: 16 }}>
        {t("history")}
      </Typography.Title>
      <Answer of={changes} empty={t("noHistory")}>
        {(rows) => (
          <Flex vertical gap="small" component="ol" style={{ margin: 0, paddingInlineStart: 20 }}>
            {[...rows].reverse().map((row) => {
              const why = WHY.find((one) => one === row.why);
              return (
                <li key={`${row.at} ${row.why} ${row.attempt}`} style={{ overflowWrap: "anywhere" }}>
                  {row.before === null ? "—" : plain(row.before)} → {row.after === null ? "—" : plain(row.after)} ·{" "}
                  {why ? t(why) : row.why}
                  {row.reason && `：${row.reason}`} · {t("by", { who: row.by ?? t("platform") })}
                  <div>
                    <Typography.Text type="secondary">
                      <Moment at={row.at} />
                    </Typography.Text>
                  </div>
                </li>
              );
            })}
          </Flex>
        )}
      </Answer>
    </section>
  );
}
