import { useCallback, useEffect, useRef } from "react";

/** Calls `act` within `wait` milliseconds after it was asked for, once however often that was. */
export function useSoon(act: () => void, wait: number): () => void {
  const newest = useRef(act);
  newest.current = act;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      newest.current();
    }, wait);
  }, [wait]);
}
