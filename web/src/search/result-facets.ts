/** What the places of a result have in common, counted: the result that is there, not the whole index. */

import type { Counts } from "./facets";
import type { Query } from "./query";

export const FACETS = ["projects", "languages", "kinds", "folders", "tests"] as const;
export type Facet = (typeof FACETS)[number];

interface Counted {
  readonly project_id: string;
  readonly path: string;
  readonly language: string;
  readonly kind: string;
  readonly is_test: boolean;
}

const MOST_VALUES = 6;
/** Parts of a path that a folder to narrow to may have more than what is already chosen. */
const DEEPER = 1;

/** Returns the values of each facet with how many places have them, the most frequent first. */
export function facetsOf(hits: readonly Counted[], query: Query): ReadonlyMap<Facet, Counts> {
  const valuesOf: Readonly<Record<Facet, (hit: Counted) => string>> = {
    projects: (hit) => hit.project_id,
    languages: (hit) => hit.language,
    kinds: (hit) => hit.kind,
    folders: (hit) => folderOf(hit.path, query.folders),
    tests: (hit) => (hit.is_test ? "only" : "none"),
  };
  return new Map(FACETS.map((facet) => [facet, counted(hits.map(valuesOf[facet])).slice(0, MOST_VALUES)]));
}

/** The filters after a click on a value: it alone, or no condition where it was chosen already. */
export function narrowed(query: Query, facet: Facet, value: string): Partial<Query> {
  if (facet === "tests") return { tests: query.tests === value ? "all" : value === "only" ? "only" : "none" };
  return { [facet]: isChosen(query, facet, value) ? [] : [value] };
}

export function isChosen(query: Query, facet: Facet, value: string): boolean {
  return facet === "tests" ? query.tests === value : query[facet].includes(value);
}

/** The folder of a path to narrow to: one step below the one that is chosen. */
function folderOf(path: string, chosen: readonly string[]): string {
  const parts = path.split("/").slice(0, -1);
  const above = chosen.find((folder) => path.startsWith(`${folder}/`));
  const n = above === undefined ? DEEPER : above.split("/").length + DEEPER;
  return parts.slice(0, n).join("/");
}

function counted(values: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0]));
}
