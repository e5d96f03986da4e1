import { get, type Schemas, useLoad } from "../api/client";
import { useTexts } from "../i18n";
import { useKind } from "../i18n/said";
import { Loading, Trouble } from "../parts";
import { CitationLink } from "../viewer/citation-link";
import { projectText } from "./text";

const MOST_TOKENS = 800;
const MOST = 12;
const TYPES: ReadonlySet<string> = new Set(["class", "component", "enum", "interface", "struct", "trait", "type"]);

/** The types that the rest of the project uses most, with the places where they are defined. */
export function MainTypes({ projectId }: { readonly projectId: string }) {
  const t = useTexts(projectText);
  const kindOf = useKind();
  const map = useLoad(
    (signal) => get<Schemas["MapOut"]>("/map", { project_id: projectId, max_tokens: MOST_TOKENS }, signal),
    [projectId],
  );
  return (
    <section className="panel" aria-labelledby="project-types" aria-busy={map.loading}>
      <h2 id="project-types">{t("types")}</h2>
      {map.problem && <Trouble problem={map.problem} onRetry={map.reload} />}
      {!map.value && !map.problem && <Loading />}
      {map.value && typesOf(map.value).length === 0 && <p className="soft">{t("types.none")}</p>}
      <ul className="project-list">
        {map.value &&
          typesOf(map.value).map(({ path, symbol }) => (
            <li key={`${path} ${symbol.name}`}>
              <CitationLink projectId={projectId} path={path} startLine={symbol.line}>
                <code>{symbol.name}</code>
              </CitationLink>{" "}
              <span className="soft">{kindOf(symbol.kind)}</span>
              <span className="project-path soft">{path}</span>
            </li>
          ))}
      </ul>
    </section>
  );
}

/** The types of a map, those of the most central files first. */
function typesOf(map: Schemas["MapOut"]) {
  return [...map.files]
    .sort((one, other) => one.rank - other.rank)
    .flatMap(({ path, symbols }) => symbols.map((symbol) => ({ path, symbol })))
    .filter(({ symbol }) => TYPES.has(symbol.kind))
    .slice(0, MOST);
}
