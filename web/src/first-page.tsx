import { Navigate } from "react-router";
import { get, type Schemas, useLoad } from "./api/client";
import { Loading, Trouble } from "./parts";

/** Leads to the search when there is something to search in, else to where a project is added. */
export function FirstPage() {
  const projects = useLoad((signal) => get<Schemas["ProjectsOut"]>("/projects", undefined, signal), []);
  if (projects.value) {
    const isIndexed = projects.value.projects.some((project) => project.generation > 0);
    return <Navigate replace to={isIndexed ? "/search" : "/projects"} />;
  }
  if (projects.problem) return <Trouble problem={projects.problem} onRetry={projects.reload} />;
  return <Loading />;
}
