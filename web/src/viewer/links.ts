import type { Place } from "./place";

/** Where a link in a document of a project leads. */
export type Target =
  | { readonly kind: "web"; readonly address: string }
  | { readonly kind: "file"; readonly place: Omit<Place, "projectId"> }
  | { readonly kind: "heading"; readonly id: string }
  | { readonly kind: "none" };

const NONE: Target = { kind: "none" };
const LINES = /^L(\d{1,9})(?:C\d+)?(?:-L?(\d{1,9})(?:C\d+)?)?$/;

/** Returns where a link in a file leads: to the web, into the project, to a heading, or nowhere. */
export function targetOf(href: string, path: string): Target {
  if (/^https?:\/\/[^/]/i.test(href)) return { kind: "web", address: href };
  // Any other scheme, and an address without one that names a host.
  if (href === "" || /^[a-z][a-z0-9+.-]*:/i.test(href) || /^[/\\]{2}/.test(href)) return NONE;
  const [before = "", mark = ""] = href.split("#", 2);
  if (before === "") return mark ? { kind: "heading", id: decoded(mark) ?? "" } : NONE;
  const written = decoded(before.split("?", 1)[0] ?? "");
  const file = written === undefined ? undefined : joined(path, written);
  if (!file) return NONE;
  const lines = LINES.exec(mark);
  const startLine = lines ? Number(lines[1]) : undefined;
  return { kind: "file", place: { path: file, startLine, endLine: lines?.[2] ? Number(lines[2]) : startLine } };
}

/** The id of a heading, as code hosts make it of its text. */
export function headingId(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

/** Returns the path that another one names from a file; undefined where it leads out of the project. */
function joined(from: string, to: string): string | undefined {
  if (/[\\\0]/.test(to)) return undefined;
  const parts = to.startsWith("/") ? [] : from.split("/").slice(0, -1);
  for (const part of to.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
