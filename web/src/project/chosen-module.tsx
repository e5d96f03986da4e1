import { Button } from "antd";
import { Link } from "react-router";
import type { Schemas } from "../api/client";
import { useTexts } from "../i18n";
import { moduleName } from "./module-name";
import type { ModuleMap } from "./modules";
import { projectText } from "./text";

interface ChosenModuleProps {
  readonly projectId: string;
  readonly map: ModuleMap;
  readonly module: Schemas["ModuleOut"];
  readonly onChoose: (path: string) => void;
  readonly onEnter: (folder: string) => void;
}

/** The folder that was clicked: what it imports, who imports it, and where to go on. */
export function ChosenModule({ projectId, map, module, onChoose, onEnter }: ChosenModuleProps) {
  const t = useTexts(projectText);
  const search = new URLSearchParams({ in: projectId, ...(module.path && { dir: module.path }) });
  const uses = map.links.filter(({ source }) => source === module.path).map((link) => [link.target, link.n_imports]);
  const used = map.links.filter(({ target }) => target === module.path).map((link) => [link.source, link.n_imports]);
  return (
    <aside className="chosen-module" aria-label={moduleName(module.path, map.folder)}>
      <h3>{module.path || "."}</h3>
      <p className="soft">
        {t("files")}: {module.n_files} · {t("lines")}: {module.n_lines} · {module.language}
        {module.has_folders && ` · ${t("map.whole")}`}
      </p>
      <div className="chosen-module-do">
        {module.has_folders && (
          <Button size="small" onClick={() => onEnter(module.path)}>
            {t("inside")}
          </Button>
        )}
        <Link to={`/search?${search}`}>{t("search-in")}</Link>
      </div>
      <Neighbours title={t("uses")} list={uses as [string, number][]} map={map} onChoose={onChoose} />
      <Neighbours title={t("used")} list={used as [string, number][]} map={map} onChoose={onChoose} />
    </aside>
  );
}

interface NeighboursProps {
  readonly title: string;
  readonly list: readonly (readonly [path: string, n: number])[];
  readonly map: ModuleMap;
  readonly onChoose: (path: string) => void;
}

function Neighbours({ title, list, map, onChoose }: NeighboursProps) {
  const t = useTexts(projectText);
  return (
    <>
      <h4>{title}</h4>
      {list.length === 0 && <p className="soft">{t("uses.none")}</p>}
      <ul>
        {list.map(([path, n]) => (
          <li key={path}>
            <button type="button" onClick={() => onChoose(path)}>
              {moduleName(path, map.folder)}
            </button>{" "}
            <span className="soft">{n}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
