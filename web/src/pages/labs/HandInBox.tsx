import { Alert, Button, Flex, Progress, Typography } from "antd";
import { Link } from "react-router";
import type { Schemas } from "@/api/client";
import { useTexts } from "@/i18n";
import { DropFile } from "@/ui/DropFile";
import { Problem } from "@/ui/Problem";
import { size } from "@/ui/tags";
import { labTexts } from "./texts";
import { useHandIn } from "./useHandIn";

interface Props {
  cohort: string;
  lab: string;
  /** Bytes of the largest file. */
  limit: number;
}

/** Where an archive is dropped, and what becomes of it. */
export function HandInBox({ cohort, lab, limit }: Props) {
  const t = useTexts(labTexts);
  const { state, handIn, stop } = useHandIn(cohort, lab);
  const busy = state.state === "sending" || state.state === "checking";
  return (
    <Flex vertical gap="small">
      <DropFile
        accept=".zip,.tar,.gz,.tgz,.bz2,.xz"
        disabled={busy}
        hint={t("handInHint", { size: size(limit) })}
        onFile={(file) => void handIn(file)}
      />
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
