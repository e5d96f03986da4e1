/** Places by the file they lie in. */

interface Placed {
  readonly project_id: string;
  readonly path: string;
}

export interface Group<T extends Placed> {
  readonly project: string;
  readonly path: string;
  readonly hits: readonly T[];
}

/** Returns the files in the order of their best places, each with its places in their order. */
export function groupsOf<T extends Placed>(hits: readonly T[]): readonly Group<T>[] {
  const groups = new Map<string, T[]>();
  for (const hit of hits) {
    const key = `${hit.project_id}\n${hit.path}`;
    const group = groups.get(key);
    if (group) group.push(hit);
    else groups.set(key, [hit]);
  }
  return [...groups.values()].map((hits) => ({
    project: hits[0]?.project_id ?? "",
    path: hits[0]?.path ?? "",
    hits,
  }));
}
