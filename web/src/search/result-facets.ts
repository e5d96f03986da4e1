/** What the places of the whole result have in common, as the server has counted it. */

import type { Schemas } from "../api/client";
import type { Counts } from "./facets";
import type { Query } from "./query";

export const FACETS = ["projects", "languages", "kinds", "folders", "tests"] as const;
export type Facet = (typeof FACETS)[number];

type Counted = Schemas["FacetsOut"];

const MOST_VALUES = 6;
const NAMES = { projects: "project", languages: "language", kinds: "kind", folders: "dir", tests: "is_test" } as const;

/** Returns the values of each facet with how many places have them, the most frequent first. */
export function facetsOf(counted: Counted, query: Query): ReadonlyMap<Facet, Counts> {
  return new Map(
    FACETS.map((facet) => {
      const values = counted[NAMES[facet]].map(({ value, n }) => [named(facet, value), n] as const);
      return [facet, [...above(facet, counted, query), ...values].slice(0, MOST_VALUES)];
    }),
  );
}

function named(facet: Facet, value: string): string {
  return facet === "tests" ? (value === "true" ? "only" : "none") : value;
}

/** The folder that is chosen stands above those in it: all places lie there, and a click takes it back. */
function above(facet: Facet, counted: Counted, query: Query): Counts {
  const [folder, ...others] = query.folders;
  return facet === "folders" && folder !== undefined && !others.length ? [[folder, counted.n_places]] : [];
}

/** The filters after a click on a value: it alone, or no condition where it was chosen already. */
export function narrowed(query: Query, facet: Facet, value: string): Partial<Query> {
  if (facet === "tests") return { tests: query.tests === value ? "all" : value === "only" ? "only" : "none" };
  return { [facet]: isChosen(query, facet, value) ? [] : [value] };
}

export function isChosen(query: Query, facet: Facet, value: string): boolean {
  return facet === "tests" ? query.tests === value : query[facet].includes(value);
}
