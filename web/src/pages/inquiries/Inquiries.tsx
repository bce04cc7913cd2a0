import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Segmented, Tag, Typography } from "antd";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { isStaff, useMe } from "@/app/me";
import { useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { inquiryTexts } from "./texts";

type State = "open" | "closed" | "all";

/** One list of all inquiries of a cohort for staff; a student sees their own. */
export default function Inquiries() {
  const t = useTexts(inquiryTexts);
  const { cohort = "" } = useParams();
  const staff = isStaff(useMe(), cohort);
  const [state, setState] = useState<State>(staff ? "open" : "all");
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: ["inquiries", cohort, state],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      body(
        api.GET("/api/cohorts/{cohort}/inquiries", {
          params: { path: { cohort }, query: { state: state === "all" ? undefined : state, after: pageParam } },
        }),
      ),
    getNextPageParam: (last) => last.next ?? undefined,
  });
  useLive(staff ? [`staff:${cohort}`] : ["me"], (event) => {
    if (event.kind === "inquiry") void queries.invalidateQueries({ queryKey: ["inquiries", cohort] });
  });
  const rows = found.data?.pages.flatMap((one) => one.items) ?? [];
  return (
    <Page
      title={t("title")}
      extra={
        <Segmented<State>
          aria-label={t("which")}
          value={state}
          onChange={setState}
          options={(["open", "closed", "all"] as const).map((one) => ({ value: one, label: t(one) }))}
        />
      }
    >
      {found.isError && <Problem error={found.error} retry={() => void found.refetch()} />}
      <DataList
        rows={rows}
        rowKey={(row) => row.id}
        label={t("title")}
        loading={found.isPending}
        empty={
          found.isError ? null : <Typography.Text type="secondary">{t(staff ? "none" : "noneMine")}</Typography.Text>
        }
        highlight={(row) => staff && row.waiting_for_staff}
        columns={[
          {
            key: "first",
            title: t("first"),
            render: (row) => (
              <Link to={`/c/${cohort}/inquiries/${row.id}`} style={{ overflowWrap: "anywhere", whiteSpace: "normal" }}>
                {row.first}
              </Link>
            ),
          },
          { key: "lab", title: t("lab"), render: (row) => row.title },
          ...(staff ? [{ key: "who", title: t("who"), render: (row: Schemas["Inquiry"]) => row.name }] : []),
          { key: "state", title: t("state"), render: (row) => <Stand of={row} /> },
          { key: "moved", title: t("moved"), render: (row) => <Moment at={row.moved_at} countdown /> },
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

export function Stand({ of }: { of: Schemas["Inquiry"] }) {
  const t = useTexts(inquiryTexts);
  if (of.state === "closed") return <Tag>{t("closed")}</Tag>;
  return of.waiting_for_staff ? (
    <Tag color="warning">{t("waitingStaff")}</Tag>
  ) : (
    <Tag color="processing">{t("waitingStudent")}</Tag>
  );
}
