import { get, type Schemas, useLoad } from "../api/client";
import { useTexts } from "../i18n";
import { Loading } from "../parts";
import { CommitLink } from "../viewer/commit-link";
import { projectText } from "./text";

const MOST = 8;

/** What was changed last. A folder without a repository has no commits, which is no fault. */
export function Commits({ projectId, url }: { readonly projectId: string; readonly url: string }) {
  const t = useTexts(projectText);
  const { value, problem } = useLoad(
    (signal) => get<Schemas["CommitsOut"]>("/commits", { project_id: projectId, limit: MOST }, signal),
    [projectId],
  );
  return (
    <section className="panel" aria-labelledby="project-commits">
      <h2 id="project-commits">{t("commits")}</h2>
      {!value && !problem && <Loading />}
      {(problem || value?.commits.length === 0) && <p className="soft">{t("commits.none")}</p>}
      <ol className="project-list">
        {value?.commits.map((commit) => (
          <li key={commit.commit}>
            <span>{commit.subject}</span>
            <span className="project-path soft">
              {commit.date} · {commit.author} · <CommitLink url={url} commit={commit.commit} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
