// What `fathom` prints, as values. All of it comes from a repository: what has another form is left out.

import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { printable } from "./program";

export interface Place {
  path: string; // from the root of the project
  line: number; // from 1
  endLine: number;
}

export interface Hit extends Place {
  title: string;
  detail: string;
}

export interface Hits {
  hits: Hit[];
  notes: string[];
}

export interface Answer {
  question: string;
  text: string;
  citations: Place[];
  hasModel: boolean;
  notes: string[];
}

type Shape = Record<string, unknown>;

const WEAK = "Most likely nothing here answers this; these are the closest places.";
export const NO_MODEL = "No language model is set, so this answer consists of excerpts. See FATHOM_LLM__MODEL.";

/** The hits of `fathom search --json`, best first. */
export function hitsOf(value: unknown): Hits {
  const shape = shapeOf(value);
  const hits = listOf(shape.hits).flatMap((hit): Hit[] => {
    const place = placeOf(hit, "line");
    return place ? [{ ...place, title: textOf(hit.name) || place.path, detail: textOf(hit.reason) }] : [];
  });
  const notes = textsOf(shape.degraded);
  return { hits, notes: shape.weak === true && hits.length ? [WEAK, ...notes] : notes };
}

/** The callers in `fathom related --json`, in its order: sure ones and near ones first. */
export function callersOf(value: unknown): Hits {
  const shape = shapeOf(value);
  const hits = listOf(shape.edges).flatMap((edge): Hit[] => {
    const place = placeOf(edge, "line");
    const sure = edge.certainty === "by-name" ? ", by the name alone" : "";
    return place ? [{ ...place, title: textOf(edge.symbol) || place.path, detail: `${textOf(edge.kind)}${sure}` }] : [];
  });
  return { hits, notes: [textOf(shape.completeness)].filter(Boolean) };
}

/** The answer of `fathom ask --json`; its citations were compared with the files by `fathom`. */
export function answerOf(value: unknown): Answer {
  const shape = shapeOf(value);
  const citations = listOf(shape.citations).flatMap((one) => placeOf(one, "start_line") ?? []);
  const hasModel = textOf(shape.model) !== "";
  return {
    question: textOf(shape.question),
    text: textOf(shape.answer),
    citations,
    hasModel,
    notes: [...(hasModel ? [] : [NO_MODEL]), ...textsOf(shape.degraded)],
  };
}

/** The root of the project in `fathom status --json`, in which paths begin. */
export function rootOf(value: unknown): string {
  const root = shapeOf(value).root;
  if (typeof root !== "string" || !isAbsolute(root)) {
    throw new TypeError("fathom status --json names no root");
  }
  return root;
}

/** The absolute path of a file of a project; undefined for what is no file in it, such as a commit. */
export function fileOf(root: string, path: string): string | undefined {
  try {
    const file = realpathSync(resolve(root, path));
    const inside = relative(realpathSync(root), file);
    return inside && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside) ? file : undefined;
  } catch {
    return undefined; // not there
  }
}

/** Return whether a text can be the name of a symbol; anything else is no target for `related`. */
export function isName(text: string): boolean {
  return text.length <= 200 && /^[\p{L}_$][\p{L}\p{N}_$]*[?!]?$/u.test(text);
}

function placeOf(shape: Shape, key: "line" | "start_line"): Place | undefined {
  const path = shape.path;
  const line = numberOf(shape[key]) || numberOf(shape.start_line);
  if (typeof path !== "string" || !path || !line) {
    return undefined;
  }
  return { path, line, endLine: Math.max(numberOf(shape.end_line), line) };
}

function shapeOf(value: unknown): Shape {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Shape) : {};
}

function listOf(value: unknown): Shape[] {
  return Array.isArray(value) ? value.map(shapeOf) : [];
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? printable(value) : "";
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf).filter(Boolean) : [];
}
