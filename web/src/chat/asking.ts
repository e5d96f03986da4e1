import { remember, remembered } from "../remembered";

/** How questions are asked: of which projects (none: all), by search, thoroughly or by an agent. */
export interface Asking {
  readonly projectIds: readonly string[];
  readonly isAgent: boolean;
  /** The model chooses and judges the sources first, in many calls. */
  readonly isThorough?: boolean;
}

interface Known {
  readonly id: string;
}

/** Returns how questions were asked last in this browser. */
export function lastAsking(): Asking {
  const ids = remembered("chat.projects");
  const mode = remembered("chat.mode");
  return { projectIds: ids ? ids.split("\n") : [], isAgent: mode === "agent", isThorough: mode === "thorough" };
}

export function keepAsking({ projectIds, isAgent, isThorough }: Asking): void {
  remember("chat.projects", projectIds.join("\n"));
  remember("chat.mode", isAgent ? "agent" : isThorough ? "thorough" : "");
}

/** Returns what of it is possible now: projects may be gone, and all but a plain answer needs a model. */
export function possible(asking: Asking, projects: readonly Known[], hasModel: boolean): Asking {
  const known = asking.projectIds.filter((id) => projects.some((project) => project.id === id));
  const isModelUsed = isAgentPossible(projects, hasModel);
  const isAgent = asking.isAgent && isModelUsed;
  return { projectIds: known, isAgent, isThorough: !isAgent && Boolean(asking.isThorough) && isModelUsed };
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
