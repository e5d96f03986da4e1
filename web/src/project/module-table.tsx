import { useTexts } from "../i18n";
import { useFormat } from "../i18n/format";
import { moduleName } from "./module-name";
import type { ModuleMap } from "./modules";
import { projectText } from "./text";

interface ModuleTableProps {
  readonly map: ModuleMap;
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
}

/** What the picture shows, for those who read it or use the keyboard. */
export function ModuleTable({ map, chosen, onChoose }: ModuleTableProps) {
  const t = useTexts(projectText);
  const format = useFormat();
  const imports = (end: "source" | "target", path: string) =>
    map.links.filter((link) => link[end] === path).reduce((sum, link) => sum + link.n_imports, 0);
  return (
    <details className="module-table">
      <summary>{t("table")}</summary>
      <div tabIndex={0} role="region" aria-label={t("table")}>
        <table>
          <thead>
            <tr>
              {(["module", "files", "lines", "uses.n", "used.n"] as const).map((name) => (
                <th key={name} scope="col">
                  {t(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {map.modules.map(({ path, n_files, n_lines }) => (
              <tr key={path}>
                <th scope="row">
                  <button type="button" aria-pressed={path === chosen} onClick={() => onChoose(path)}>
                    {moduleName(path, map.folder)}
                  </button>
                </th>
                {[n_files, n_lines, imports("source", path), imports("target", path)].map((value, column) => (
                  <td key={column}>{format.number(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
