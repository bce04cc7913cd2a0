/** The HTTP API, typed by the server's own OpenAPI document. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** A refusal of the server in the caller's language: what happened, and what to do. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }

  get reason(): string {
    return typeof this.details.reason === "string" ? this.details.reason : this.code;
  }
}

/** What the session of this tab needs for every call. */
export const session: { csrf: string | null; language: string; onSignedOut: () => void } = {
  csrf: null,
  language: "zh",
  onSignedOut: () => undefined,
};

/** Headers of every call; for uploads that are not made by `api`. */
export function callHeaders(): Record<string, string> {
  const headers: Record<string, string> = { "Accept-Language": session.language };
  if (session.csrf) headers["X-CSRF-Token"] = session.csrf;
  return headers;
}

export async function asError(response: Response): Promise<ApiError> {
  const told: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  if (told && typeof told === "object" && "code" in told && "message" in told) {
    const problem = told as Schemas["Problem"];
    return new ApiError(response.status, problem.code, problem.message, problem.hint, problem.details);
  }
  return new ApiError(response.status, "no_answer", `HTTP ${response.status}`);
}

/** What to say when no answer came at all. */
export function unreachable(): ApiError {
  const zh = session.language === "zh";
  return new ApiError(
    0,
    "unreachable",
    zh ? "连不上服务器" : "the server cannot be reached",
    zh ? "检查网络；页面会自己再试" : "check the network; the page tries again by itself",
  );
}

const manners: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(callHeaders())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    if (response.ok) return undefined;
    const error = await asError(response);
    if (response.status === 401) session.onSignedOut();
    throw error;
  },
  onError({ error }) {
    if (error instanceof ApiError) return error;
    if (error instanceof DOMException && error.name === "AbortError") return error;
    return unreachable();
  },
};

export const api = createClient<paths>({ baseUrl: "" });
api.use(manners);

/** The body of an answer; refusals have been thrown already. */
export async function body<T>(call: Promise<{ data?: T; response: Response }>): Promise<T> {
  const { data } = await call;
  return data as T;
}
