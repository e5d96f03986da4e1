import { useEffect } from "react";
import { get, type Load, type Schemas, useLoad } from "../api/client";
import { useSeen } from "./following";

export type Project = Schemas["ProjectOut"];

const AT_WORK_MS = 1_500;
const AT_REST_MS = 6_000;

/** The projects, loaded again now and then: another tab, or a person at the command line, may change them. */
export function useProjects(): Load<readonly Project[]> {
  const load = useLoad(
    async (signal) => (await get<Schemas["ProjectsOut"]>("/projects", undefined, signal)).projects,
    [],
  );
  const isSeen = useSeen();
  const { loading, reload } = load;
  const isAtWork = load.value?.some((project) => project.job_id) ?? false;
  useEffect(() => {
    if (!isSeen || loading) return;
    const timer = setTimeout(reload, isAtWork ? AT_WORK_MS : AT_REST_MS);
    return () => clearTimeout(timer);
  }, [isSeen, loading, isAtWork, reload]);
  return load;
}
