import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Card, Collapse, Descriptions, Popconfirm, Tag } from "antd";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { api, body, type Schemas } from "@/api/client";
import { isStaff, useMe } from "@/app/me";
import { either, useLanguage, useTexts } from "@/i18n";
import { useLive } from "@/live/useLive";
import { AskDialog } from "@/pages/inquiries/AskDialog";
import { Answer } from "@/ui/Answer";
import { DataList } from "@/ui/DataList";
import { Moment } from "@/ui/Moment";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { Points, size, VerdictTag } from "@/ui/tags";
import { LiveAttempt } from "./LiveAttempt";
import { Receipt } from "./Receipt";
import { submissionTexts } from "./texts";

export default function Submission() {
  const t = useTexts(submissionTexts);
  const { language } = useLanguage();
  const me = useMe();
  const queries = useQueryClient();
  const { submission = "" } = useParams();
  const [isAsking, setAsking] = useState(false);
  const path = { submission_id: submission };
  const found = useQuery({
    queryKey: ["submission", submission, language],
    queryFn: () => body(api.GET("/api/submissions/{submission_id}", { params: { path } })),
  });
  const staffOf = found.data && isStaff(me, found.data.cohort) ? found.data.cohort : undefined;
  const rerun = useMutation({
    mutationFn: () => body(api.POST("/api/submissions/{submission_id}/rerun", { params: { path } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["submission", submission] }),
  });
  // A grading more, of this hand-in, by whoever asked for it.
  useLive(["me", ...(staffOf ? [`staff:${staffOf}`] : [])], (event) => {
    if (event.payload.submission === submission) void found.refetch();
  });
  if (!found.data)
    return (
      <Page title={t("submission")}>
        <Answer of={found}>{() => null}</Answer>
      </Page>
    );
  return (
    <Answer of={found}>
      {(shown) => (
        <Page
          title={`${t("submission")} · ${shown.name || shown.login}`}
          above={
            <Link to={`/c/${shown.cohort}/labs/${shown.lab}`}>
              {either(shown.lab_title, shown.lab_title_en, language)}
            </Link>
          }
          extra={
            shown.state === "accepted" && (
              <>
                <Button href={`/api/submissions/${shown.id}/archive`} download>
                  {t("archive")}
                </Button>
                {me.login === shown.login && shown.attempt?.state === "done" && (
                  <Button onClick={() => setAsking(true)}>{t("ask")}</Button>
                )}
                {staffOf && (
                  <Popconfirm title={t("rerunAsk")} onConfirm={() => rerun.mutate()}>
                    <Button loading={rerun.isPending}>{t("rerun")}</Button>
                  </Popconfirm>
                )}
              </>
            )
          }
        >
          {isAsking && (
            <AskDialog
              cohort={shown.cohort}
              lab={shown.lab}
              title={either(shown.lab_title, shown.lab_title_en, language)}
              onClose={() => setAsking(false)}
            />
          )}
          {rerun.isError && <Problem error={rerun.error} />}
          <Facts submission={shown} />
          {shown.refusal && (
            <Alert
              type="error"
              showIcon
              title={`${t("refused")}: ${shown.refusal.message}`}
              description={shown.refusal.hint ?? undefined}
            />
          )}
          {shown.attempt && <LiveAttempt key={shown.attempt.id} id={shown.attempt.id} />}
          <Earlier submission={shown} />
          {shown.state === "accepted" && <Receipt submission={shown} />}
          {shown.files.length > 0 && <Files files={shown.files} />}
        </Page>
      )}
    </Answer>
  );
}

function Facts({ submission }: { submission: Schemas["Submission"] }) {
  const t = useTexts(submissionTexts);
  return (
    <Card size="small">
      <Descriptions
        column={{ xs: 1, md: 2 }}
        size="small"
        items={[
          {
            key: "at",
            label: t("at"),
            children: <Moment at={submission.submitted_at} zone={submission.zone} countdown />,
          },
          {
            key: "file",
            label: t("file"),
            children: (
              <span>
                {submission.filename} · {size(submission.size)}{" "}
                {submission.late && <Tag color="warning">{t("late")}</Tag>}
                {!submission.charged && <Tag>{t("free")}</Tag>}
              </span>
            ),
          },
        ]}
      />
      {submission.same_as && <div>{t("sameAs")}</div>}
      {submission.notes.map((note) => (
        <div key={note}>{note}</div>
      ))}
    </Card>
  );
}

function Earlier({ submission }: { submission: Schemas["Submission"] }) {
  const t = useTexts(submissionTexts);
  const all = useQuery({
    queryKey: ["submission", submission.id, "attempts", submission.attempt?.id],
    queryFn: () =>
      body(
        api.GET("/api/submissions/{submission_id}/attempts", { params: { path: { submission_id: submission.id } } }),
      ),
  });
  const rows = (all.data ?? []).filter((one) => one.id !== submission.attempt?.id);
  if (rows.length === 0) return null;
  return (
    <Card size="small" title={t("attempts")}>
      <DataList
        rows={rows}
        rowKey={(row) => row.id}
        label={t("attempts")}
        columns={[
          {
            key: "n",
            title: t("attempts"),
            render: (row) => <Link to={`/attempts/${row.id}`}>{t("attempt", { n: row.number })}</Link>,
          },
          { key: "at", title: t("queued"), render: (row) => <Moment at={row.queued_at} zone={submission.zone} /> },
          {
            key: "verdict",
            title: t("verdict"),
            render: (row) => <VerdictTag verdict={row.verdict} text={row.verdict_text} />,
          },
          { key: "points", title: t("points"), render: (row) => <Points points={row.points} of={row.max_points} /> },
        ]}
      />
    </Card>
  );
}

function Files({ files }: { files: Schemas["Submission"]["files"] }) {
  const t = useTexts(submissionTexts);
  return (
    <Collapse
      items={[
        {
          key: "files",
          label: t("files", { n: files.length }),
          children: (
            <DataList
              rows={files}
              rowKey={(file) => file.path}
              label={t("files", { n: files.length })}
              columns={[
                { key: "path", title: t("file"), render: (file) => <code>{file.path}</code> },
                { key: "size", title: t("size"), render: (file) => size(file.size) },
              ]}
            />
          ),
        },
      ]}
    />
  );
}
