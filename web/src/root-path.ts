const written = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="root-path"]')?.content;

/** The path below which a proxy serves everything, such as `/code`, "" for the root: the server writes it into the page. */
export const ROOT_PATH = written ?? "";

/** Returns the path of the window as the router counts it: below ROOT_PATH. */
export function pathHere(): string {
  const { pathname } = window.location; // `useLocation` follows a little later
  return (pathname.startsWith(ROOT_PATH) && pathname.slice(ROOT_PATH.length)) || "/";
}
