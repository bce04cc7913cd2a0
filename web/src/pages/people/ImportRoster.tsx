import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Card, Flex, Radio, Spin, Typography } from "antd";
import { useState } from "react";
import { Link, useParams } from "react-router";
import type { Schemas } from "@/api/client";
import { sendFile } from "@/api/sendFile";
import { useMe } from "@/app/me";
import { useLanguage, useTexts } from "@/i18n";
import { DropFile } from "@/ui/DropFile";
import { Page } from "@/ui/Page";
import { Problem } from "@/ui/Problem";
import { RosterDiff } from "./RosterDiff";
import { RosterRead } from "./RosterRead";
import { Slips } from "./Slips";
import { peopleTexts } from "./texts";

type Mode = "append" | "replace";

interface Chosen {
  file: File;
  encoding?: string;
  mode?: Mode;
}

/** A roster is read, shown, compared with the class, and only then applied, exactly as shown. */
export default function ImportRoster() {
  const t = useTexts(peopleTexts);
  const { language } = useLanguage();
  const queries = useQueryClient();
  const { cohort = "" } = useParams();
  const title = useMe().cohorts.find((one) => one.cohort === cohort)?.title ?? cohort;
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const preview = useMutation({
    mutationFn: (one: Chosen) => sendFile<Schemas["RosterPreview"]>(addressOf(cohort, "preview", one), one.file),
  });
  const apply = useMutation({
    mutationFn: ({ one, digest }: { one: Chosen; digest: string }) =>
      sendFile<Schemas["RosterApplied"]>(addressOf(cohort, "apply", one, digest), one.file),
    onSuccess: () => {
      for (const key of ["people", "checklist", "gradebook"])
        void queries.invalidateQueries({ queryKey: [key, cohort] });
    },
  });
  const look = (one: Chosen) => {
    setChosen(one);
    apply.reset();
    preview.mutate(one);
  };
  const anew = () => {
    setChosen(null);
    preview.reset();
    apply.reset();
  };
  const found = preview.data;
  const above = (
    <>
      {title} · <Link to={`/c/${cohort}/people`}>{t("people")}</Link>
    </>
  );
  if (apply.data)
    return (
      <Page title={t("import")} above={above}>
        <Alert
          className="no-print"
          type="success"
          showIcon
          title={t("applied", { summary: apply.data.summary })}
          action={
            <Flex gap="small" wrap>
              <Link to={`/c/${cohort}/people`}>
                <Button tabIndex={-1}>{t("toPeople")}</Button>
              </Link>
              <Button onClick={anew}>{t("again")}</Button>
            </Flex>
          }
        />
        {apply.data.codes.length > 0 && <Slips title={title} codes={apply.data.codes} onDone={anew} />}
      </Page>
    );
  return (
    <Page title={t("import")} above={above} extra={chosen && <Button onClick={anew}>{t("another")}</Button>}>
      {!chosen && (
        <DropFile
          accept=".csv,.xlsx,.xls,.htm,.html,.txt,.tsv"
          hint={t("importLead")}
          onFile={(file) => look({ file })}
        />
      )}
      {preview.isPending && <Spin description={t("reading", { name: chosen?.file.name ?? "" })}>{<div />}</Spin>}
      {preview.isError && <Problem error={preview.error} />}
      {apply.isError && <Problem error={apply.error} />}
      {apply.isError && chosen && (
        <div>
          <Button onClick={() => look(chosen)}>{t("outdated")}</Button>
        </div>
      )}
      {found && chosen && (
        <>
          <Typography.Text strong>{chosen.file.name}</Typography.Text>
          <RosterRead
            found={found}
            encoding={chosen.encoding}
            onEncoding={(encoding) => look({ file: chosen.file, encoding })}
          />
          {(found.needs_mode || chosen.mode) && (
            <WholeOrPart found={found} mode={chosen.mode} onMode={(mode) => look({ ...chosen, mode })} />
          )}
          <RosterDiff found={found} />
          <div style={{ position: "sticky", bottom: 12, zIndex: 5 }}>
            <Button
              type="primary"
              size="large"
              lang={language}
              disabled={Boolean(found.needs_mode) || found.changes.length === 0 || preview.isPending}
              loading={apply.isPending}
              style={{ whiteSpace: "normal", height: "auto" }}
              onClick={() => apply.mutate({ one: chosen, digest: found.digest })}
            >
              {found.needs_mode ? t("chooseFirst") : t("apply", { summary: found.summary })}
            </Button>
          </div>
        </>
      )}
    </Page>
  );
}

interface WholeProps {
  found: Schemas["RosterPreview"];
  mode: Mode | undefined;
  onMode: (mode: Mode) => void;
}

function WholeOrPart({ found, mode, onMode }: WholeProps) {
  const t = useTexts(peopleTexts);
  return (
    <Card size="small" title={t("mode")}>
      <Flex vertical gap="small">
        {found.needs_mode && <Alert type="warning" showIcon title={found.needs_mode} />}
        <Radio.Group
          aria-label={t("mode")}
          value={mode}
          onChange={(event) => onMode(event.target.value)}
          options={[
            { value: "append", label: t("append") },
            { value: "replace", label: t("replace") },
          ]}
        />
      </Flex>
    </Card>
  );
}

function addressOf(cohort: string, verb: "preview" | "apply", one: Chosen, digest?: string): string {
  const query = new URLSearchParams();
  if (one.encoding) query.set("encoding", one.encoding);
  if (one.mode) query.set("mode", one.mode);
  if (digest) query.set("digest", digest);
  return `/api/cohorts/${encodeURIComponent(cohort)}/roster/${verb}?${query}`;
}
