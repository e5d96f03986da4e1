import { ROOT_PATH } from "./root-path";

/** What the browser keeps for this page. Where it keeps nothing (private windows), nothing is lost but the choice. */
type Name =
  "language" | "theme" | "token" | "signed-out" | "menu" | "viewer-width" | `chat.${string}` | `search.${string}`;

/** Two servers behind one proxy have one origin, and each its own token. */
function keyOf(name: Name): string {
  return `fathom${ROOT_PATH}.${name}`;
}

export function remembered(name: Name): string {
  try {
    return localStorage.getItem(keyOf(name)) ?? "";
  } catch {
    return "";
  }
}

export function remember(name: Name, value: string): void {
  try {
    if (value) localStorage.setItem(keyOf(name), value);
    else localStorage.removeItem(keyOf(name));
  } catch {
    // Kept until the page is left.
  }
}
