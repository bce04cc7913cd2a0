import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Alert, Card, Spin } from "antd";
import type { Schemas } from "@/api/client";
import { sendFile } from "@/api/sendFile";
import { useTexts } from "@/i18n";
import { DropFile } from "@/ui/DropFile";
import { Problem } from "@/ui/Problem";
import { size } from "@/ui/tags";
import { boardTexts } from "./texts";

/** Where a CSV of predictions is dropped, and how it was scored. */
export function EnterBox({ board }: { board: Schemas["PredictionRanking"] }) {
  const t = useTexts(boardTexts);
  const queries = useQueryClient();
  const enter = useMutation({
    // One key a file: what a lost answer hides is found again by the same key.
    mutationFn: ({ file, key }: { file: File; key: string }) =>
      sendFile<Schemas["EnteredFile"]>(`/api/cohorts/${board.cohort}/boards/${board.slug}/entries`, file, {
        "Idempotency-Key": key,
        "X-Filename": encodeURIComponent(file.name),
      }),
    retry: (count, error) => count < 3 && "status" in error && error.status === 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: ["board", board.cohort, board.slug] }),
  });
  const hint = t("enterHint", { id: board.id_column, column: board.column, size: size(board.max_bytes) });
  return (
    <Card size="small" title={t("enter")} styles={{ body: { display: "grid", gap: 8 } }}>
      <DropFile
        accept=".csv"
        disabled={enter.isPending}
        hint={hint}
        onFile={(file) => enter.mutate({ file, key: crypto.randomUUID() })}
      />
      {enter.isPending && <Spin description={t("sending")} />}
      {enter.isError && <Problem error={enter.error} />}
      {enter.data && <Entered entry={enter.data.entry} />}
    </Card>
  );
}

function Entered({ entry }: { entry: Schemas["PredictionEntry"] }) {
  const t = useTexts(boardTexts);
  if (entry.state === "scored")
    return <Alert type="success" showIcon role="status" title={t("scored", { shown: entry.shown ?? "—" })} />;
  return (
    <Alert
      type={entry.state === "failed" ? "warning" : "error"}
      showIcon
      role="alert"
      title={t(entry.state === "failed" ? "failed" : "invalid")}
      description={entry.message}
    />
  );
}
