import { useEffect, useRef, useSyncExternalStore } from "react";
import { type LiveEvent, live, type State } from "./stream";

/** Hear of `topics` while the page is there; the topic of an event is one of ours or `me` and the like, as asked for. */
export function useLive(topics: readonly string[], onEvent: (event: LiveEvent) => void): void {
  const heard = useRef(onEvent);
  heard.current = onEvent;
  const key = topics.join(",");
  useEffect(() => (key ? live.listen(key.split(","), (event) => heard.current(event)) : undefined), [key]);
}

export function useLiveState(): State {
  return useSyncExternalStore(
    (watcher) => live.watch(watcher),
    () => live.state,
  );
}
