import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError, api, asError, body, callHeaders, type Schemas } from "@/api/client";
import { type Progress, sendInPieces, type Wire } from "./pieces";

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
      const id = await sendInPieces(
        file,
        localStorage.getItem(kept),
        wire(cohort, lab, file),
        (started) => localStorage.setItem(kept, started),
        (progress) => setState({ state: "sending", name: file.name, size: file.size, ...progress }),
        control.signal,
      );
      setState({ state: "checking", name: file.name });
      const handed = await body(
        api.POST("/api/uploads/{upload_id}/submission", { params: { path: { upload_id: id } } }),
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

function wire(cohort: string, lab: string, file: File): Wire {
  return {
    start: () =>
      body(
        api.POST("/api/cohorts/{cohort}/labs/{lab}/uploads", {
          params: { path: { cohort, lab } },
          body: { filename: file.name, size: file.size },
        }),
      ),
    look: async (id) => {
      try {
        return await body(api.GET("/api/uploads/{upload_id}", { params: { path: { upload_id: id } } }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    send: async (id, offset, piece) => {
      const response = await fetch(`/api/uploads/${id}?offset=${offset}`, {
        method: "PUT",
        body: piece,
        headers: { ...callHeaders(), "Content-Type": "application/octet-stream" },
      }).catch(() => {
        throw new ApiError(0, "unreachable", "");
      });
      if (!response.ok) throw await asError(response);
      return (await response.json()) as Schemas["Upload"];
    },
    wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
    passing: (error) =>
      error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.reason === "offset"),
  };
}
