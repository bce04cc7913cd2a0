import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Card, Collapse, Flex, Form, Input, InputNumber, Popconfirm, Tag } from "antd";
import { api, body, type Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Problem } from "@/ui/Problem";
import { fromLocal, toLocal } from "@/ui/zoned";
import { Ranking } from "./Ranking";
import { boardTexts } from "./texts";

const DATES = ["opens_at", "due_at", "reveal_at"] as const;
type Fields = Partial<Record<(typeof DATES)[number], string>> & { title?: string; a_day?: number };

/** What staff sees and does beside the board itself: dates and limits, the private ranking, everybody's files. */
export function StaffBoard({ board }: { board: Schemas["PredictionRanking"] }) {
  const t = useTexts(boardTexts);
  return (
    <Card size="small" title={t("forStaff")}>
      <Collapse
        destroyOnHidden
        items={[
          { key: "rules", label: t("datesAndLimits"), children: <Rules board={board} /> },
          { key: "private", label: t("privateNow"), children: <PrivateRanking board={board} /> },
          { key: "entries", label: t("everybody"), children: <Everybody board={board} /> },
        ]}
      />
    </Card>
  );
}

function Rules({ board }: { board: Schemas["PredictionRanking"] }) {
  const t = useTexts(boardTexts);
  const { message } = App.useApp();
  const queries = useQueryClient();
  const path = { cohort: board.cohort, board: board.slug };
  const was = Object.fromEntries(DATES.map((name) => [name, toLocal(board[name], board.zone)])) as Fields;
  const refresh = () => queries.invalidateQueries({ queryKey: ["board", board.cohort, board.slug] });
  const change = useMutation({
    mutationFn: (fields: Fields) => {
      const changes: Schemas["BoardChanges"] = {};
      for (const name of DATES)
        if ((fields[name] ?? "") !== was[name]) changes[name] = fromLocal(fields[name] ?? "", board.zone);
      if (fields.title && fields.title !== board.title) changes.title = fields.title;
      if (fields.a_day && fields.a_day !== board.a_day) changes.a_day = fields.a_day;
      return body(api.PATCH("/api/cohorts/{cohort}/boards/{board}", { params: { path }, body: changes }));
    },
    onSuccess: () => {
      void message.success(t("saved"));
      void refresh();
    },
  });
  const rebuild = useMutation({
    mutationFn: () => body(api.POST("/api/cohorts/{cohort}/boards/{board}/rebuild", { params: { path } })),
    onSuccess: (done) => {
      void message.success(t("rebuilt", { n: done.owners, m: done.changed }));
      void refresh();
    },
  });
  return (
    <Form<Fields>
      name="rules"
      layout="vertical"
      initialValues={{ ...was, title: board.title, a_day: board.a_day }}
      onFinish={(fields) => change.mutate(fields)}
    >
      <Form.Item name="title" label={t("title")}>
        <Input maxLength={200} />
      </Form.Item>
      <Flex wrap gap="middle">
        {DATES.map((name) => (
          <Form.Item key={name} name={name} label={t(name)} extra={t("zone", { zone: board.zone })}>
            <Input type="datetime-local" style={{ width: 230 }} />
          </Form.Item>
        ))}
        <Form.Item name="a_day" label={t("aDay")}>
          <InputNumber min={1} max={1000} precision={0} />
        </Form.Item>
      </Flex>
      {change.isError && <Problem error={change.error} />}
      {rebuild.isError && <Problem error={rebuild.error} />}
      <Flex gap="small" wrap>
        <Button type="primary" htmlType="submit" loading={change.isPending}>
          {t("save")}
        </Button>
        <Popconfirm title={t("rebuildAsk")} onConfirm={() => rebuild.mutate()}>
          <Button loading={rebuild.isPending}>{t("rebuild")}</Button>
        </Popconfirm>
      </Flex>
    </Form>
  );
}

function PrivateRanking({ board }: { board: Schemas["PredictionRanking"] }) {
  const path = { cohort: board.cohort, board: board.slug };
  const found = useQuery({
    queryKey: ["board", board.cohort, board.slug, "private"],
    queryFn: () =>
      body(
        api.GET("/api/cohorts/{cohort}/boards/{board}", { params: { path, query: { limit: 1000, private: true } } }),
      ),
  });
  return <Answer of={found}>{(shown) => <Ranking rows={shown.entries} zone={board.zone} />}</Answer>;
}

function Everybody({ board }: { board: Schemas["PredictionRanking"] }) {
  const t = useTexts(boardTexts);
  const path = { cohort: board.cohort, board: board.slug };
  const found = useQuery({
    queryKey: ["board", board.cohort, board.slug, "everybody"],
    queryFn: () =>
      body(api.GET("/api/cohorts/{cohort}/boards/{board}/entries", { params: { path, query: { everybody: true } } })),
  });
  return (
    <Answer of={found} isEmpty={(page) => page.items.length === 0} empty={t("noEntries")}>
      {(page) => (
        <DataList
          rows={page.items}
          rowKey={(row) => row.id}
          label={t("everybody")}
          columns={[
            { key: "who", title: t("login"), render: (row) => row.login },
            { key: "at", title: t("at"), render: (row) => <Moment at={row.submitted_at} zone={board.zone} /> },
            { key: "file", title: t("file"), render: (row) => row.filename },
            { key: "public", title: t("publicScore"), render: (row) => row.public ?? "—" },
            { key: "private", title: t("privateScore"), render: (row) => row.private ?? "—" },
            {
              key: "state",
              title: "",
              render: (row) => row.state !== "scored" && <Tag>{row.message ?? row.state}</Tag>,
            },
          ]}
        />
      )}
    </Answer>
  );
}
