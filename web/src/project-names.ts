interface Named {
  readonly id: string;
  readonly name: string;
  readonly root: string;
  readonly url?: string;
}

/** Returns a name for each project, by id: where several have one name, with the end of the folder that tells them apart. */
export function namesOf(projects: readonly Named[]): ReadonlyMap<string, string> {
  return new Map(
    projects.map((project) => {
      const others = projects.filter((other) => other.id !== project.id && other.name === project.name);
      return [project.id, others.length ? `${project.name} (${placeOf(project, others)})` : project.name];
    }),
  );
}

/** The shortest end of the folders above a project that no other has; of a repository its address. */
function placeOf(project: Named, others: readonly Named[]): string {
  if (project.url) return project.url;
  const parts = partsOf(project);
  for (let n = 1; n <= parts.length; n++) {
    const end = parts.slice(-n).join("/");
    if (others.every((other) => partsOf(other).slice(-n).join("/") !== end)) return end;
  }
  return project.id;
}

function partsOf({ root }: Named): string[] {
  return root.split(/[\\/]/).filter(Boolean);
}
