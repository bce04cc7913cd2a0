import { useEffect, useState } from "react";
import { api, body } from "@/api/client";
import { LogView } from "./LogView";
import { Problem } from "./Problem";

interface Props {
  job: string;
  /** For screen readers: whose output it is. */
  label: string;
  stream?: "stdout" | "stderr" | "peer.stdout" | "peer.stderr";
  /** Which run of a job that was started again; else the present one. */
  run?: number;
  height?: number;
}

/** Seconds that the server holds a question until there is more. */
const HELD = 20;
const BETWEEN_FAILURES = 3000;

/** What a job prints, followed live until nothing more will come. */
export function JobLog({ job, label, stream = "stdout", run, height }: Props) {
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const stop = new AbortController();
    setText("");
    setError(null);
    void follow({ job, stream, run }, stop.signal, (more) => setText((had) => had + more), setError);
    return () => stop.abort();
  }, [job, stream, run]);
  return error ? <Problem error={error} /> : <LogView text={text} label={label} height={height} />;
}

interface Which {
  job: string;
  stream: string;
  run?: number;
}

async function follow(
  which: Which,
  signal: AbortSignal,
  onText: (more: string) => void,
  onError: (error: unknown) => void,
): Promise<void> {
  let offset = 0;
  let present = which.run;
  while (!signal.aborted) {
    try {
      const piece = await body(
        api.GET("/api/jobs/{job_id}/logs", {
          params: {
            path: { job_id: which.job },
            query: { stream: which.stream, offset, run: present, wait: offset === 0 ? 0 : HELD },
          },
          signal,
        }),
      );
      if (piece.text) onText(piece.text);
      offset = piece.offset;
      if (piece.run) present = piece.run;
      if (piece.ended) return;
      if (offset === 0) await pause(1000);
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) return onError(error);
      await pause(BETWEEN_FAILURES);
    }
  }
}

function isPassing(error: unknown): boolean {
  const status = error instanceof Error && "status" in error ? Number(error.status) : 0;
  return status === 0 || status >= 500;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
