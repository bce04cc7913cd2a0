import { asError, callHeaders } from "./client";

/** Send a file as the body of a POST; refusals are thrown as `ApiError`. */
export async function sendFile<T>(address: string, file: Blob): Promise<T> {
  const response = await fetch(address, {
    method: "POST",
    headers: { ...callHeaders(), "Content-Type": "application/octet-stream" },
    body: file,
  });
  if (!response.ok) throw await asError(response);
  return (await response.json()) as T;
}
