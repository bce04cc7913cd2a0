/** Where to go after signing in: an address of ours that `next` names, else the start. */
export function safeNext(next: string | null, origin: string): string {
  if (!next?.startsWith("/") || !/^[!-[\]-~\u0080-\uffff]*$/.test(next)) return "/";
  try {
    const address = new URL(next, origin);
    if (address.origin !== origin || address.pathname.startsWith("//")) return "/";
    const path = address.pathname + address.search + address.hash;
    return /^\/(login|activate)([/?#]|$)/.test(path) ? "/" : path;
  } catch {
    return "/";
  }
}
