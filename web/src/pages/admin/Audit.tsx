import { useInfiniteQuery } from "@tanstack/react-query";
import { Button, Flex, Input, Select, Typography } from "antd";
import { useSearchParams } from "react-router";
import { api, body } from "@/api/client";
import { useTexts } from "@/i18n";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { adminTexts } from "./texts";

/** How the names of actions begin. */
const KINDS = [
  "sign_in",
  "person.",
  "token.",
  "cohort.",
  "lab.",
  "submission.",
  "grade.",
  "board.",
  "regrade.",
  "job.",
];

/** Who changed what, for administrators. */
export default function Audit() {
  const t = useTexts(adminTexts);
  const [search, setSearch] = useSearchParams();
  const filters = {
    action: search.get("action") ?? "",
    words: search.get("words") ?? "",
    since: search.get("since") ?? "",
  };
  const found = useInfiniteQuery({
    queryKey: ["audit", filters],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) =>
      body(
        api.GET("/api/audit", {
          params: {
            query: {
              after: pageParam,
              action: filters.action,
              words: filters.words,
              since: filters.since ? new Date(`${filters.since}T00:00`).toISOString() : undefined,
            },
          },
        }),
      ),
    getNextPageParam: (page) => (page.next === null ? undefined : Number(page.next)),
  });
  const set = (name: string, value: string) =>
    setSearch(
      (old) => {
        if (value) old.set(name, value);
        else old.delete(name);
        return old;
      },
      { replace: true },
    );
  return (
    <Page title={t("audit")}>
      <Typography.Text type="secondary">{t("auditLead")}</Typography.Text>
      <Flex gap="small" wrap>
        <Select
          aria-label={t("action")}
          style={{ minWidth: 160 }}
          value={filters.action}
          onChange={(value) => set("action", value)}
          options={[{ value: "", label: t("anyAction") }, ...KINDS.map((kind) => ({ value: kind, label: kind }))]}
        />
        <Input.Search
          aria-label={t("words")}
          placeholder={t("words")}
          defaultValue={filters.words}
          allowClear
          onSearch={(value) => set("words", value)}
          style={{ maxWidth: 300 }}
        />
        <Input
          type="date"
          aria-label={t("since")}
          value={filters.since}
          onChange={(event) => set("since", event.target.value)}
          style={{ width: 170 }}
        />
      </Flex>
      {found.isError && <Problem error={found.error} retry={() => void found.refetch()} />}
      <DataList
        rows={found.data?.pages.flatMap((page) => page.items) ?? []}
        rowKey={(row) => row.id}
        label={t("audit")}
        loading={found.isPending}
        empty={t("nothing")}
        columns={[
          { key: "at", title: t("at"), render: (row) => <Moment at={row.at} /> },
          { key: "who", title: t("who"), render: (row) => (row.login ? `${row.name} (${row.login})` : t("nobody")) },
          { key: "action", title: t("action"), render: (row) => <code>{row.action}</code> },
          { key: "target", title: t("target"), render: (row) => row.target },
          { key: "address", title: t("address"), render: (row) => row.address ?? "—" },
          {
            key: "details",
            title: t("details"),
            render: (row) =>
              Object.keys(row.details).length === 0 ? (
                "—"
              ) : (
                <details>
                  <summary>{Object.keys(row.details).join(", ")}</summary>
                  <pre style={{ maxWidth: "60ch", whiteSpace: "pre-wrap" }}>{JSON.stringify(row.details, null, 1)}</pre>
                </details>
              ),
          },
        ]}
      />
      {found.hasNextPage && (
        <Button loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t("more")}
        </Button>
      )}
    </Page>
  );
}
