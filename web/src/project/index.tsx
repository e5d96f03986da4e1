import { SearchOutlined } from "@ant-design/icons";
import { lazy, Suspense } from "react";
import { Link, useParams } from "react-router";
import { get, type Schemas, useLoad } from "../api/client";
import { useTexts } from "../i18n";
import { useFormat } from "../i18n/format";
import { Loading, Message, Trouble } from "../parts";
import { useMay } from "../session";
import { useTitle } from "../title";
import { Commits } from "./commits";
import { GlanceParts } from "./glance";
import { Languages } from "./languages";
import { MainTypes } from "./main-types";
import { projectText } from "./text";
import "./project.css";

const Modules = lazy(() => import("./modules"));

type Project = Schemas["ProjectOut"];

/** A project at a glance: what it is made of, where to begin, what happened last, and a map of its modules. */
export default function ProjectPage() {
  const t = useTexts(projectText);
  const { projectId = "" } = useParams();
  const projects = useLoad((signal) => get<Schemas["ProjectsOut"]>("/projects", undefined, signal), []);
  const project = projects.value?.projects.find((item) => item.id === projectId);
  useTitle(project?.name ?? "", t("title"));
  if (projects.problem) return <Trouble problem={projects.problem} onRetry={projects.reload} />;
  if (!projects.value) return <Loading />;
  if (project?.generation) return <Overview key={project.id} project={project} />;
  const why = project ? "not-indexed" : "missing";
  return (
    <Message level="h1" title={t(why)} hint={t(`${why}.hint`)}>
      <Link to="/projects">{t("projects")}</Link>
    </Message>
  );
}

function Overview({ project }: { readonly project: Project }) {
  const t = useTexts(projectText);
  const format = useFormat();
  const may = useMay(project.id);
  return (
    <div className="page project-page">
      <header className="page-head">
        <h1>{project.name}</h1>
        <span className="soft">
          {t("about", { files: format.number(project.n_documents), symbols: format.number(project.n_symbols) })}
        </span>
        <Link to={`/search?in=${encodeURIComponent(project.id)}`}>
          <SearchOutlined aria-hidden /> {t("search")}
        </Link>
      </header>
      <GlanceParts projectId={project.id} nFiles={project.n_documents} />
      <Suspense fallback={<Loading />}>
        <Modules projectId={project.id} />
      </Suspense>
      <div className="project-facts">
        <Languages counts={project.languages} />
        <MainTypes projectId={project.id} />
        {may("maintainer") && <Commits projectId={project.id} url={project.url} />}
      </div>
    </div>
  );
}
