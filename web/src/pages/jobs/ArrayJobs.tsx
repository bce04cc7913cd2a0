import { useQuery } from "@tanstack/react-query";
import { Card } from "antd";
import { Link } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { useLanguage, useTexts } from "@/i18n";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { plain, StateTag } from "@/ui/tags";
import { CancelJob, OPEN } from "./CancelJob";
import { jobTexts } from "./texts";

/** All jobs of the array that a job belongs to. */
export function ArrayJobs({ id, job }: { id: string; job: Schemas["Job"] }) {
  const t = useTexts(jobTexts);
  const { language } = useLanguage();
  const found = useQuery({
    queryKey: ["array", id, language],
    queryFn: () => body(api.GET("/api/arrays/{array_id}", { params: { path: { array_id: id } } })),
    refetchInterval: ({ state }) => (state.data?.jobs.some((one) => OPEN.has(one.state)) ? 5000 : false),
  });
  const isOpen = found.data?.jobs.some((one) => OPEN.has(one.state)) ?? false;
  return (
    <Card
      size="small"
      title={t("arrayOf", { id, n: found.data?.jobs.length ?? 0 })}
      extra={isOpen && <CancelJob job={job} whole />}
    >
      <Answer of={found}>
        {(array) => (
          <DataList
            rows={array.jobs}
            rowKey={(one) => one.id}
            label={t("array")}
            highlight={(one) => one.id === job.id}
            pagination={array.jobs.length > 20 ? { pageSize: 20, showSizeChanger: false } : false}
            columns={[
              { key: "index", title: t("index"), render: (one) => <Link to={`/jobs/${one.id}`}>{one.index}</Link> },
              { key: "state", title: t("state"), render: (one) => <StateTag state={one.state} /> },
              { key: "took", title: t("took"), render: (one) => (one.wall === null ? "—" : `${plain(one.wall, 1)} s`) },
              { key: "why", title: t("why"), render: (one) => one.reason_text ?? "—" },
            ]}
          />
        )}
      </Answer>
    </Card>
  );
}
