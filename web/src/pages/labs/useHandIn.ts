import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError, api, asError, body, callHeaders, type Schemas, unreachable } from "@/api/client";
import { handInPieces, type Progress, type Wire } from "./pieces";

export type HandIn =
  | { state: "idle" }
  | ({ state: "sending"; name: string; size: number } & Progress)
  | { state: "checking"; name: string }
  | { state: "taken"; handed: Schemas["HandedIn"] }
  | { state: "refused"; error: unknown };

/** A file on its way to being handed in, in one lab. */
export function useHandIn(cohort: string, lab: string) {
  const [state, setState] = useState<HandIn>({ state: "idle" });
  const running = useRef<AbortController>(null);
  const queries = useQueryClient();

  async function handIn(file: File): Promise<void> {
    running.current?.abort();
    const control = new AbortController();
    running.current = control;
    const kept = `qianka.upload:${cohort}/${lab}/${file.name}/${file.size}/${file.lastModified}`;
    setState({ state: "sending", name: file.name, size: file.size, sent: 0, pause: null });
    try {
      const handed = await handInPieces(
        file,
        localStorage.getItem(kept),
        wire(cohort, lab, file),
        {
          onStart: (started) => localStorage.setItem(kept, started),
          onProgress: (progress) => setState({ state: "sending", name: file.name, size: file.size, ...progress }),
          onSent: () => setState({ state: "checking", name: file.name }),
        },
        control.signal,
      );
      localStorage.removeItem(kept);
      setState({ state: "taken", handed });
      void queries.invalidateQueries({ queryKey: ["lab", cohort, lab] });
    } catch (error) {
      setState(control.signal.aborted ? { state: "idle" } : { state: "refused", error });
    }
  }

  return { state, handIn, stop: () => running.current?.abort() };
}

function wire(cohort: string, lab: string, file: File): Wire<Schemas["HandedIn"]> {
  return {
    start: () =>
      body(
        api.POST("/api/cohorts/{cohort}/labs/{lab}/uploads", {
          params: { path: { cohort, lab } },
          body: { filename: file.name, size: file.size },
        }),
      ),
    look: (id) => orNull(body(api.GET("/api/uploads/{upload_id}", { params: { path: { upload_id: id } } }))),
    finish: (id) =>
      orNull(body(api.POST("/api/uploads/{upload_id}/submission", { params: { path: { upload_id: id } } }))),
    send: async (id, offset, piece) => {
      const response = await fetch(`/api/uploads/${id}?offset=${offset}`, {
        method: "PUT",
        body: piece,
        headers: { ...callHeaders(), "Content-Type": "application/octet-stream" },
      }).catch(() => {
        throw unreachable();
      });
      if (!response.ok) throw await asError(response);
      return (await response.json()) as Schemas["Upload"];
    },
    wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
    passing: (error) =>
      error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.reason === "offset"),
  };
}

/** An answer, or null where the server says that there is no such upload. */
async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.reason === "no_upload") return null;
    throw error;
  }
}
