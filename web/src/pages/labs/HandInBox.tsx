import { Alert, Button, Flex, Progress, Typography } from "antd";
import { useState } from "react";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DropFile } from "@/ui/DropFile";
import { Problem } from "@/ui/Problem";
import { plain } from "@/ui/tags";
import { labTexts } from "./texts";
import { useHandIn } from "./useHandIn";

interface Props {
  cohort: string;
  lab: string;
  /** Bytes of the largest file; null where it is not known. */
  limit: number | null;
}

/** Where an archive is dropped, and what becomes of it. */
export function HandInBox({ cohort, lab, limit }: Props) {
  const t = useTexts(labTexts);
  const { state, handIn, stop } = useHandIn(cohort, lab);
  const [tooLarge, setTooLarge] = useState<number | null>(null);
  const busy = state.state === "sending" || state.state === "checking";
  const take = (file: File) => {
    const isTooLarge = limit !== null && file.size > limit;
    setTooLarge(isTooLarge ? file.size : null);
    if (!isTooLarge) void handIn(file);
  };
  return (
    <Flex vertical gap="small">
      <DropFile
        accept=".zip,.tar,.gz,.tgz,.bz2,.xz"
        disabled={busy}
        hint={limit === null ? t("handInHint") : `${t("handInLimit", { size: mib(limit) })} ${t("handInHint")}`}
        onFile={take}
      />
      {tooLarge !== null && (
        <Alert
          type="error"
          showIcon
          role="alert"
          title={t("tooLarge", { size: mib(tooLarge), limit: mib(limit ?? 0) })}
          description={t("tooLargeHint")}
        />
      )}
      {state.state === "sending" && (
        <div role="status">
          <Flex justify="space-between" align="center" gap="small">
            <Typography.Text ellipsis>
              {state.pause === null ? t("sending", { name: state.name }) : t("waiting", { n: state.pause })}
            </Typography.Text>
            <Button size="small" onClick={stop}>
              {t("stop")}
            </Button>
          </Flex>
          <Progress
            percent={Math.floor((state.sent / state.size) * 100)}
            status={state.pause === null ? "active" : "exception"}
            aria-label={t("sending", { name: state.name })}
          />
        </div>
      )}
      {state.state === "checking" && <Progress percent={100} status="active" format={() => t("checking")} />}
      {state.state === "refused" && <Problem error={state.error} />}
      {state.state === "taken" && <Taken handed={state.handed} />}
    </Flex>
  );
}

function Taken({ handed }: { handed: Schemas["HandedIn"] }) {
  const t = useTexts(labTexts);
  const { submission } = handed;
  const refusal = submission.refusal;
  if (refusal)
    return (
      <Alert
        type="error"
        showIcon
        role="alert"
        title={`${t("invalid")}: ${refusal.message}`}
        description={refusal.hint ?? undefined}
      />
    );
  return (
    <Alert
      type="success"
      showIcon
      role="status"
      title={handed.again ? t("again") : t("taken")}
      description={
        <Flex vertical gap="small">
          {submission.notes.map((note) => (
            <div key={note}>{note}</div>
          ))}
          <div>{t("takenLead")}</div>
          <Flex gap="small" wrap>
            <Link to={`/submissions/${submission.id}`}>
              <Button type="primary">{t("watch")}</Button>
            </Link>
            <Button href={`/api/submissions/${submission.id}/receipt`} download>
              {t("receipt")}
            </Button>
          </Flex>
        </Flex>
      }
    />
  );
}

/** As the rules of a lab and their refusals count. */
function mib(bytes: number): string {
  return `${plain(bytes / 2 ** 20, 1)} MB`;
}
