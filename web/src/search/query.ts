/** What is searched for, and the same as the address of the page: an address can be shared, reloaded and gone back to. */

export const MODES = ["auto", "hybrid", "lexical", "vector", "symbol", "regex", "graph"] as const;
export const LEVELS = ["chunk", "function", "symbol", "file"] as const;
/** Whether tests are among what is searched: all, tests only, all but tests. */
export const TESTS = ["all", "only", "none"] as const;
export type Tests = (typeof TESTS)[number];
export type Mode = (typeof MODES)[number];
export type Level = (typeof LEVELS)[number];

export interface Query {
  readonly text: string;
  readonly projects: readonly string[];
  readonly languages: readonly string[];
  readonly kinds: readonly string[];
  readonly folders: readonly string[];
  readonly mode: Mode;
  readonly level: Level;
  readonly tests: Tests;
  /** Only files that were changed on this day or later, such as 2026-11-01; "" for all. */
  readonly after: string;
}

export type Filters = Omit<Query, "text">;

export const NOTHING: Query = {
  text: "",
  projects: [],
  languages: [],
  kinds: [],
  folders: [],
  mode: "auto",
  level: "chunk",
  tests: "all",
  after: "",
};

/** Names in the address. `project`, `file` and `lines` belong to the viewer. */
const TEXT = "q";
const LISTS = { projects: "in", languages: "lang", kinds: "kind", folders: "dir" } as const;
type ListName = keyof typeof LISTS;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const CONDITIONS: Readonly<Record<Tests, string>> = { all: "", only: "is_test", none: "not is_test" };
const LIST_NAMES = Object.keys(LISTS) as ListName[];

export function queryOf(address: URLSearchParams): Query {
  const listed = (name: ListName) => [...new Set(address.getAll(LISTS[name]).filter(Boolean))];
  return {
    text: address.get(TEXT) ?? "",
    projects: listed("projects"),
    languages: listed("languages"),
    kinds: listed("kinds"),
    folders: listed("folders"),
    mode: oneOf(MODES, address.get("mode"), NOTHING.mode),
    level: oneOf(LEVELS, address.get("level"), NOTHING.level),
    tests: oneOf(TESTS, address.get("tests"), NOTHING.tests),
    after: DAY.exec(address.get("after") ?? "")?.[0] ?? "",
  };
}

/** The address of a query; what else stands in `before` stays, such as the file that is open. */
export function addressOf(query: Query, before: URLSearchParams = new URLSearchParams()): URLSearchParams {
  const address = new URLSearchParams(before);
  setOrRemove(address, TEXT, query.text.trim() ? query.text : "");
  for (const name of LIST_NAMES) {
    address.delete(LISTS[name]);
    for (const value of query[name]) address.append(LISTS[name], value);
  }
  setOrRemove(address, "mode", query.mode === NOTHING.mode ? "" : query.mode);
  setOrRemove(address, "level", query.level === NOTHING.level ? "" : query.level);
  setOrRemove(address, "tests", query.tests === NOTHING.tests ? "" : query.tests);
  setOrRemove(address, "after", query.after);
  return address;
}

/** What the server is asked; null when there is nothing to ask. */
export function bodyOf(query: Query, limit: number): Record<string, unknown> | null {
  if (!query.text.trim()) return null;
  return {
    query: query.text.trim(),
    limit,
    explain: true, // the panel of a hit shows its signals
    facets: true,
    mode: query.mode,
    level: query.level,
    ...(query.projects.length > 0 && { project_ids: query.projects }),
    ...(query.languages.length > 0 && { language_filter: query.languages }),
    ...(query.kinds.length > 0 && { kind_filter: query.kinds }),
    ...(query.folders.length > 0 && { directory_filter: query.folders }),
    ...(query.tests !== "all" && { filter: CONDITIONS[query.tests] }),
    ...(query.after && { changed_after: query.after }),
  };
}

export function hasFilters(query: Query): boolean {
  return LIST_NAMES.some((name) => query[name].length > 0) || query.tests !== "all" || query.after !== "";
}

export function withoutFilters(query: Query): Query {
  return { ...query, projects: [], languages: [], kinds: [], folders: [], tests: "all", after: "" };
}

function oneOf<T extends string>(choices: readonly T[], value: string | null, otherwise: T): T {
  return choices.find((choice) => choice === value) ?? otherwise;
}

function setOrRemove(address: URLSearchParams, name: string, value: string): void {
  if (value) address.set(name, value);
  else address.delete(name);
}
