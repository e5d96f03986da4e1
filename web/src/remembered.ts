/** What the browser keeps for this page. Where it keeps nothing (private windows), nothing is lost but the choice. */
type Name = "language" | "theme" | "token" | "menu" | "viewer-width" | `chat.${string}` | `search.${string}`;

export function remembered(name: Name): string {
  try {
    return localStorage.getItem(`fathom.${name}`) ?? "";
  } catch {
    return "";
  }
}

export function remember(name: Name, value: string): void {
  try {
    if (value) localStorage.setItem(`fathom.${name}`, value);
    else localStorage.removeItem(`fathom.${name}`);
  } catch {
    // Kept until the page is left.
  }
}
