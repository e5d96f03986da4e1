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
  const { value, problem, loading, reload } = load;
  const isAtWork = value?.some((project) => project.job_id) ?? false;
  useEffect(() => {
    if (!isSeen || loading) return;
    const timer = setTimeout(reload, isAtWork ? AT_WORK_MS : AT_REST_MS);
    return () => clearTimeout(timer);
    // Beginning and end of a short load may be seen as one change, so `loading` alone would not tell of each end.
  }, [isSeen, loading, value, problem, isAtWork, reload]);
  return load;
}
