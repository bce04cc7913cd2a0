import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button, Flex, Input, Select } from "antd";
import { useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { api, body } from "@/api/client";
import { useMe } from "@/app/me";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { Points, StateTag, VerdictTag } from "@/ui/tags";
import { submissionTexts } from "./texts";

const VERDICTS = [
  "waiting",
  "invalid",
  "accepted",
  "below_line",
  "timeout",
  "out_of_memory",
  "crashed",
  "import_error",
  "bad_encoding",
  "no_predictions",
  "bad_predictions",
  "output_limit",
  "disk_full",
  "process_limit",
  "suspicious",
  "infra_error",
  "cancelled",
] as const;

/** Hand-ins of the whole cohort, for staff. */
export default function Search() {
  const t = useTexts(submissionTexts);
  const { language } = useLanguage();
  const go = useNavigate();
  const me = useMe();
  const { cohort = "" } = useParams();
  const [search, setSearch] = useSearchParams();
  const [chosen, setChosen] = useState<string[]>([]);
  const filters = {
    lab: search.get("lab") ?? undefined,
    words: search.get("words") ?? "",
    section: search.get("section") ?? undefined,
    verdict: search.get("verdict") ?? undefined,
  };
  const labs = useQuery({
    queryKey: ["labs", cohort],
    queryFn: () => body(api.GET("/api/cohorts/{cohort}/labs", { params: { path: { cohort } } })),
  });
  const found = useInfiniteQuery({
    queryKey: ["submissions", cohort, filters, language],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      body(
        api.GET("/api/cohorts/{cohort}/submissions", {
          params: { path: { cohort }, query: { ...filters, after: pageParam } },
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
  });
  useLive([`staff:${cohort}`], (event) => {
    if (event.kind === "submission") void found.refetch();
  });
  const set = (name: string, value: string | undefined) =>
    setSearch(
      (old) => {
        if (value) old.set(name, value);
        else old.delete(name);
        return old;
      },
      { replace: true },
    );
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  const attempts = chosen.map((id) => rows.find((row) => row.id === id)?.attempt?.id).filter((id) => !!id);
  return (
    <Page
      title={t("submissions")}
      above={me.cohorts.find((one) => one.cohort === cohort)?.title ?? cohort}
      extra={
        <Button
          disabled={attempts.length !== 2}
          onClick={() => void go(`/c/${cohort}/compare?a=${attempts[0]}&b=${attempts[1]}`)}
        >
          {t("compare")}
        </Button>
      }
    >
      <Flex gap="small" wrap>
        <Select
          aria-label={t("lab")}
          style={{ minWidth: 180 }}
          value={filters.lab ?? ""}
          onChange={(value) => set("lab", value)}
          options={[
            { value: "", label: `${t("lab")}: ${t("any")}` },
            ...(labs.data ?? []).map((lab) => ({ value: lab.slug, label: either(lab.title, lab.title_en, language) })),
          ]}
        />
        <Select
          aria-label={t("verdict")}
          style={{ minWidth: 160 }}
          value={filters.verdict ?? ""}
          onChange={(value) => set("verdict", value)}
          options={[
            { value: "", label: `${t("verdict")}: ${t("any")}` },
            ...VERDICTS.map((verdict) => ({ value: verdict, label: t(verdict) })),
          ]}
        />
        <Input.Search
          aria-label={t("words")}
          placeholder={t("words")}
          defaultValue={filters.words}
          allowClear
          onSearch={(value) => set("words", value)}
          style={{ maxWidth: 260 }}
        />
        <Input.Search
          aria-label={t("section")}
          placeholder={t("section")}
          defaultValue={filters.section}
          allowClear
          onSearch={(value) => set("section", value)}
          style={{ maxWidth: 180 }}
        />
      </Flex>
      {found.isError && <Problem error={found.error} retry={() => void found.refetch()} />}
      <DataList
        rows={rows}
        rowKey={(row) => row.id}
        label={t("submissions")}
        loading={found.isPending}
        empty={t("none")}
        selection={{
          selectedRowKeys: chosen,
          hideSelectAll: true,
          getCheckboxProps: (row) => ({ disabled: !row.attempt, "aria-label": `${row.name} ${row.submitted_at}` }),
          onChange: (keys) => setChosen((keys as string[]).slice(-2)),
        }}
        columns={[
          {
            key: "at",
            title: t("at"),
            render: (row) => (
              <Link to={`/submissions/${row.id}`}>
                <Moment at={row.submitted_at} zone={row.zone} />
              </Link>
            ),
          },
          { key: "person", title: t("person"), render: (row) => `${row.name} (${row.login})` },
          { key: "lab", title: t("lab"), render: (row) => either(row.lab_title, row.lab_title_en, language) },
          {
            key: "verdict",
            title: t("verdict"),
            render: (row) =>
              row.refusal ? (
                <VerdictTag verdict="invalid" text={t("invalid")} />
              ) : row.attempt?.verdict ? (
                <VerdictTag verdict={row.attempt.verdict} text={row.attempt.verdict_text} />
              ) : (
                <StateTag state={row.attempt?.state ?? "queued"} />
              ),
          },
          {
            key: "points",
            title: t("points"),
            render: (row) => <Points points={row.attempt?.points} of={row.attempt?.max_points} />,
          },
          {
            key: "archive",
            title: t("archiveColumn"),
            wideOnly: true,
            render: (row) =>
              row.state === "accepted" && (
                <Button size="small" href={`/api/submissions/${row.id}/archive`} download>
                  {t("archive")}
                </Button>
              ),
          },
        ]}
      />
      {found.hasNextPage && (
        <Button onClick={() => void found.fetchNextPage()} loading={found.isFetchingNextPage}>
          {t("more")}
        </Button>
      )}
    </Page>
  );
}
