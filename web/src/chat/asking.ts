import { remember, remembered } from "../remembered";

/** How questions are asked: of which projects (none: all), by search or by an agent. */
export interface Asking {
  readonly projectIds: readonly string[];
  readonly isAgent: boolean;
}

interface Known {
  readonly id: string;
}

/** Returns how questions were asked last in this browser. */
export function lastAsking(): Asking {
  const ids = remembered("chat.projects");
  return { projectIds: ids ? ids.split("\n") : [], isAgent: remembered("chat.mode") === "agent" };
}

export function keepAsking({ projectIds, isAgent }: Asking): void {
  remember("chat.projects", projectIds.join("\n"));
  remember("chat.mode", isAgent ? "agent" : "");
}

/** Returns what of it is possible now: projects may be gone, and an agent needs a model and one project. */
export function possible(asking: Asking, projects: readonly Known[], hasModel: boolean): Asking {
  const known = asking.projectIds.filter((id) => projects.some((project) => project.id === id));
  if (!asking.isAgent || !isAgentPossible(projects, hasModel)) return { projectIds: known, isAgent: false };
  return { projectIds: (known.length ? known : projects.map((project) => project.id)).slice(0, 1), isAgent: true };
}

export function isAgentPossible(projects: readonly Known[], hasModel: boolean): boolean {
  return hasModel && projects.length > 0;
}

/** Returns how the next question of a conversation is asked: of its own projects, which may be all there are. */
export function askingOf(last: Asking, ids: readonly string[] | undefined, projects: readonly Known[]): Asking {
  if (!ids) return last;
  const isAll = projects.every((project) => ids.includes(project.id)) && projects.length > 1;
  return { ...last, projectIds: isAll ? [] : ids };
}
