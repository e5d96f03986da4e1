import { useMemo } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { type Key, useText } from "../i18n";
import { Said } from "../i18n/said";
import { Loading, Trouble } from "../parts";
import { CitationLink } from "./citation-link";

type Edge = Schemas["EdgeOut"];

const MOST = 200;

interface UsesProps {
  readonly projectId: string;
  /** A symbol (`path @@name`), or a place in it (`path:line`). */
  readonly target: string;
}

/** Who uses a definition, which tests touch it, and what it uses; with how certain each connection is. */
export function Uses({ projectId, target }: UsesProps) {
  const t = useText();
  const ask = (kind?: string) => (signal: AbortSignal) =>
    get<Schemas["RelatedOut"]>("/related", { project_id: projectId, target, kind, limit: MOST }, signal);
  const found = useLoad(ask(), [projectId, target]);
  const tests = useLoad(ask("tests"), [projectId, target]);
  const groups = useMemo(
    () => groupsOf(found.value?.edges ?? [], tests.value?.edges ?? []),
    [found.value, tests.value],
  );
  if (found.problem) return <Trouble problem={found.problem} onRetry={found.reload} />;
  if (!found.value || found.loading) return <Loading />;
  const { completeness, completeness_parts, n_left_out } = found.value;
  return (
    <div className="uses">
      <h3>{found.value.target.replace(/^@@/, "")}</h3>
      {groups.map(({ name, edges }) => (
        <section key={name}>
          <h4>
            {t(`viewer.uses.${name}` as Key)} <span className="soft">{edges.length}</span>
          </h4>
          <ul>
            {edges.map((edge) => (
              <li key={`${edge.path} ${edge.line} ${edge.name} ${edge.kind}`}>
                <CitationLink projectId={projectId} path={edge.path} startLine={edge.line} endLine={edge.line} />
                <span className="soft">
                  {edge.symbol || edge.name} · {t(`viewer.certainty.${edge.certainty}`)}
                </span>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {groups.length === 0 && <p className="viewer-note">{t("viewer.uses.none")}</p>}
      {n_left_out > 0 && <p className="viewer-note">{t("viewer.uses.more", { n: n_left_out })}</p>}
      <p className="viewer-note">
        <Said text={completeness} notes={completeness_parts} />
      </p>
    </div>
  );
}

interface Group {
  readonly name: "callers" | "references" | "tests" | "imported" | "callees";
  readonly edges: readonly Edge[];
}

/** Tests stand by themselves, not a second time among the callers. */
function groupsOf(edges: readonly Edge[], tests: readonly Edge[]): readonly Group[] {
  const ofTests = new Set(tests.map(keyOf));
  const others = edges.filter((edge) => !ofTests.has(keyOf(edge)));
  const of = (kinds: readonly string[]) => others.filter((edge) => kinds.includes(edge.kind));
  const groups: Group[] = [
    { name: "callers", edges: of(["called by"]) },
    { name: "references", edges: of(["references"]) },
    { name: "imported", edges: of(["imported by"]) },
    { name: "tests", edges: tests },
    { name: "callees", edges: of(["calls", "imports"]) },
  ];
  return groups.filter((group) => group.edges.length > 0);
}

function keyOf(edge: Edge): string {
  return `${edge.path}:${edge.line} ${edge.kind}`;
}
