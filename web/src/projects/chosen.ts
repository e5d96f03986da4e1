/** Settings of one project: those of the server, and over them what is set for the project. */

import type { Schemas } from "../api/client";

export type Setting = Schemas["SettingOut"];
export type Value = string | readonly string[];
/** What is to be changed; null: no longer set for the project. */
export type Draft = Readonly<Record<string, Value | null>>;
type Kept = Readonly<Record<string, unknown>>;

/** Settings after which what is indexed is no longer what would be indexed. */
const OF_INDEX = ["embed.model", "store.vectors", "source.required_exts", "source.ignore"];

export interface Shown {
  readonly value: Value;
  /** Where the value comes from: "draft", "here" (set for the project), "default" or the name of a file. */
  readonly origin: string;
}

/** What a field shows. */
export function shownOf(setting: Setting, kept: Kept, draft: Draft): Shown {
  const { key } = setting;
  const changed = draft[key];
  if (changed !== undefined && changed !== null) return { value: changed, origin: "draft" };
  if (key in kept && changed !== null) return { value: valueOf(kept[key]), origin: "here" };
  // What stood there before it was set for the project is not known until the server says it again.
  if (key in kept) return { value: valueOf(setting.default), origin: "default" };
  return { value: valueOf(setting.value), origin: setting.origin };
}

/** All that is to be set for the project after a change. */
export function changedBy(kept: Kept, draft: Draft): Record<string, unknown> {
  const next: Record<string, unknown> = { ...kept };
  for (const [key, value] of Object.entries(draft)) {
    if (value === null) delete next[key];
    else next[key] = value;
  }
  return next;
}

/** The draft as settings to be tried: what is taken back is tried as its default. */
export function triedOf(draft: Draft, settings: readonly Setting[]): Record<string, unknown> {
  const fallbacks = new Map(settings.map((setting) => [setting.key, setting.default]));
  return Object.fromEntries(Object.entries(draft).map(([key, value]) => [key, value ?? fallbacks.get(key)]));
}

/** Whether the project must be indexed again for a change to count. */
export function needsIndex(draft: Draft): boolean {
  return Object.keys(draft).some((key) => OF_INDEX.includes(key));
}

function valueOf(value: unknown): Value {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "string" ? value : value === null || value === undefined ? "" : String(value);
}
