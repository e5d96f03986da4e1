import { get, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Loading, Trouble } from "../parts";
import { CommitLink } from "./commit-link";

const MOST = 20;

interface LineHistoryProps {
  readonly projectId: string;
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** The commits that made some lines, the latest first, with the lines before and after each. */
export function LineHistory({ projectId, path, startLine, endLine }: LineHistoryProps) {
  const t = useText();
  const place = `${path}:${startLine}-${endLine}`;
  const found = useLoad(
    (signal) => get<Schemas["HistoryOut"]>("/history", { project_id: projectId, place, limit: MOST }, signal),
    [projectId, place],
  );
  const project = useLoad(
    (signal) => get<Schemas["ProjectOut"]>(`/projects/${encodeURIComponent(projectId)}`, undefined, signal),
    [projectId],
  );
  if (found.problem) return <Trouble problem={found.problem} onRetry={found.reload} />;
  if (!found.value || found.loading) return <Loading />;
  const { commits, note, n_left_out } = found.value;
  return (
    <div className="line-history">
      <h3>{t("viewer.history.of", { lines: endLine > startLine ? `${startLine}-${endLine}` : `${startLine}` })}</h3>
      {note && <p className="viewer-note">{t("viewer.blame.none")}</p>}
      <ol>
        {commits.map((commit) => (
          <li key={commit.commit}>
            <strong>{commit.subject}</strong>
            <p className="soft">
              {commit.author} · {commit.date} · <CommitLink url={project.value?.url ?? ""} commit={commit.commit} />
              {commit.pull_request && ` · #${commit.pull_request}`}
            </p>
            <Lines text={commit.before} sign="-" />
            <Lines text={commit.after} sign="+" />
          </li>
        ))}
      </ol>
      {n_left_out > 0 && <p className="viewer-note">{t("viewer.uses.more", { n: n_left_out })}</p>}
    </div>
  );
}

function Lines({ text, sign }: { readonly text: string; readonly sign: "-" | "+" }) {
  const t = useText();
  if (!text) return null;
  const label = t(sign === "-" ? "viewer.history.before" : "viewer.history.after");
  return (
    <pre className="line-change" data-sign={sign} tabIndex={0} aria-label={label}>
      {text
        .split("\n")
        .map((line) => `${sign} ${line}`)
        .join("\n")}
    </pre>
  );
}
