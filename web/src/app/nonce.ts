/**
 * Style elements that our libraries make carry the nonce of the page: some (antd's tables, where they measure a
 * scroll bar) do not pass it on. A script that runs here could read it anyway, so nothing is given away.
 */
export const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce;

if (nonce) {
  const make = document.createElement.bind(document);
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const made = make(name, options);
    if (made instanceof HTMLStyleElement) made.nonce = nonce;
    return made;
  }) as typeof document.createElement;
}
