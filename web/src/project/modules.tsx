import { lazy, Suspense, useState } from "react";
import { useSearchParams } from "react-router";
import { get, type Schemas, useLoad } from "../api/client";
import { useTexts } from "../i18n";
import { Boundary, Loading, Trouble } from "../parts";
import { CitationLink } from "../viewer/citation-link";
import { ChosenModule } from "./chosen-module";
import { ModuleTable } from "./module-table";
import { projectText } from "./text";

const Graph = lazy(() => import("./graph"));

export type ModuleMap = Schemas["ModulesOut"];

/** The map of a project's folders; the address names the one that is shown: `?folder=src`. */
export default function Modules({ projectId }: { readonly projectId: string }) {
  const t = useTexts(projectText);
  const [address, setAddress] = useSearchParams();
  const folder = address.get("folder") ?? "";
  const map = useLoad(
    (signal) => get<ModuleMap>("/modules", { project_id: projectId, folder }, signal),
    [projectId, folder],
  );
  const enter = (next: string) => {
    const changed = new URLSearchParams(address);
    if (next) changed.set("folder", next);
    else changed.delete("folder");
    setAddress(changed);
  };
  return (
    <section className="panel project-map" aria-labelledby="project-map" aria-busy={map.loading}>
      <h2 id="project-map">{t("map")}</h2>
      {folder && <Way folder={folder} onEnter={enter} />}
      {map.problem && <Trouble problem={map.problem} onRetry={map.reload} />}
      {!map.value && !map.problem && <Loading />}
      {map.value && !map.problem && <Shown key={folder} projectId={projectId} map={map.value} onEnter={enter} />}
    </section>
  );
}

interface ShownProps {
  readonly projectId: string;
  readonly map: ModuleMap;
  readonly onEnter: (folder: string) => void;
}

function Shown({ projectId, map, onEnter }: ShownProps) {
  const t = useTexts(projectText);
  const [chosen, setChosen] = useState<string>();
  const module = map.modules.find(({ path }) => path === chosen);
  if (map.modules.length === 0) return <p className="soft">{t("map.none")}</p>;
  return (
    <>
      <p className="soft">{t("map.hint")}</p>
      <div className="project-map-row">
        <Boundary>
          <Suspense fallback={<div className="module-graph" />}>
            <Graph map={map} chosen={chosen} onChoose={setChosen} />
          </Suspense>
        </Boundary>
        {module && (
          <ChosenModule projectId={projectId} map={map} module={module} onChoose={setChosen} onEnter={onEnter} />
        )}
      </div>
      {map.n_modules_left_out > 0 && (
        <p className="soft">{t("map.left-out", { modules: map.n_modules_left_out, files: map.n_files_left_out })}</p>
      )}
      <ModuleTable map={map} chosen={chosen} onChoose={setChosen} />
      <h3>{t("entries")}</h3>
      {map.entry_points.length === 0 && <p className="soft">{t("entries.none")}</p>}
      <p className="project-entries">
        {map.entry_points.map((path) => (
          <CitationLink key={path} projectId={projectId} path={path} />
        ))}
        {map.n_entry_points > map.entry_points.length && (
          <span className="soft">{t("entries.more", { n: map.n_entry_points - map.entry_points.length })}</span>
        )}
      </p>
    </>
  );
}

/** The folders above the one that is shown, each a step back. */
function Way({ folder, onEnter }: { readonly folder: string; readonly onEnter: (folder: string) => void }) {
  const t = useTexts(projectText);
  const parts = folder.split("/");
  return (
    <nav className="project-way" aria-label={t("map.way")}>
      <button type="button" onClick={() => onEnter("")}>
        {t("map.root")}
      </button>
      {parts.map((part, place) => (
        <span key={parts.slice(0, place + 1).join("/")}>
          {" / "}
          {place === parts.length - 1 ? (
            <strong>{part}</strong>
          ) : (
            <button type="button" onClick={() => onEnter(parts.slice(0, place + 1).join("/"))}>
              {part}
            </button>
          )}
        </span>
      ))}
    </nav>
  );
}
