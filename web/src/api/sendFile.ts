import { asError, callHeaders, unreachable } from "./client";

/** Send a file as the body of a POST; refusals, and a server that is away (status 0), are thrown as `ApiError`. */
export async function sendFile<T>(address: string, file: Blob, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(address, {
    method: "POST",
    headers: { ...callHeaders(), "Content-Type": "application/octet-stream", ...headers },
    body: file,
  }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw await asError(response);
  return (await response.json()) as T;
}
