/** Server state: what is asked for, kept, and asked for again when it has changed. */
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A refusal stays one; only what did not answer is asked again.
      retry: (count, error) => count < 3 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      refetchOnWindowFocus: true,
    },
  },
});
