import { get, type Load, type Schemas, useLoad } from "../api/client";

import { useOthers } from "./others";

export type Project = Schemas["ProjectOut"];

/** Loads the projects that can be asked: those with an index. */
export function useProjects(): Load<readonly Project[]> {
  return useLoad(async (signal) => {
    const found = await get<Schemas["ProjectsOut"]>("/projects/indexed", undefined, signal);
    return found.projects;
  }, []);
}

export interface Models {
  readonly answer: boolean;
  readonly agent: boolean;
}

const BOTH: Models = { answer: true, agent: true };

/** Says which models are configured; the first project that is asked decides. Until it is known: all. */
export function useModels(projectId: string): Models {
  const config = useLoad(
    (signal) => (projectId ? get<Schemas["ConfigOut"]>("/config", { project_id: projectId }, signal) : nothing()),
    [projectId],
  );
  useOthers(config.reload);
  return config.value ? modelsOf(config.value) : BOTH;
}

function modelsOf({ settings }: Pick<Schemas["ConfigOut"], "settings">): Models {
  const isSet = (key: string) => settings.some((setting) => setting.key === key && Boolean(setting.value));
  const has = (role: string) => isSet(`llm.${role}`) || isSet("llm.model");
  return { answer: has("answer"), agent: has("agent") };
}

function nothing(): Promise<undefined> {
  return Promise.resolve(undefined);
}
