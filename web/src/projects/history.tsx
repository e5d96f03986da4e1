import { Tag } from "antd";
import { get, type Schemas, useLoad } from "../api/client";
import { type Key, useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { useTold } from "../i18n/said";
import { Loading, Trouble } from "../parts";
import { tookText } from "./amounts";
import type { Project } from "./listed";
import type { Job } from "./progress";

const MOST = 30;
const COLOURS: Readonly<Record<string, string>> = { done: "success", failed: "error", running: "processing" };

/** The runs over a project, the latest first. */
export function History({ project }: { readonly project: Project }) {
  const t = useText();
  const jobs = useLoad(
    (signal) => get<Schemas["JobsOut"]>("/jobs", { project_id: project.id, limit: MOST }, signal),
    [project.id, project.generation, project.status],
  );
  if (jobs.problem) return <Trouble problem={jobs.problem} onRetry={jobs.reload} />;
  if (!jobs.value) return <Loading />;
  if (jobs.value.jobs.length === 0) return <p className="soft">{t("projects.history.none")}</p>;
  return (
    <>
      <ol className="history">
        {jobs.value.jobs.map((job) => (
          <Run key={job.id} job={job} />
        ))}
      </ol>
      {jobs.value.n_left_out > 0 && (
        <p className="soft">{t("projects.history.earlier", { n: jobs.value.n_left_out })}</p>
      )}
    </>
  );
}

function Run({ job }: { readonly job: Job }) {
  const t = useText();
  const format = useFormat();
  const toldOf = useTold();
  const told = job.error && toldOf(job.error);
  const { report } = job;
  const parts = [
    job.full && t("projects.history.full"),
    job.move_to && t("projects.history.move", { name: job.move_to }),
    report &&
      t("projects.outcome.done", {
        files: report.n_files,
        chunks: report.n_chunks,
        time: tookText(format, report.seconds),
      }),
    report &&
      t("projects.outcome.changes", { added: report.n_added, changed: report.n_changed, removed: report.n_removed }),
    job.attempts > 1 && t("projects.history.attempts", { n: job.attempts }),
    job.file_errors.length > 0 && t("projects.history.errors", { n: job.file_errors.length }),
  ];
  return (
    <li>
      <Tag color={COLOURS[job.state]}>{t(`projects.history.${job.state}` as Key)}</Tag>
      <div>
        <time dateTime={new Date(job.created_at * 1000).toISOString()}>{format.date(job.created_at)}</time>
        <div className="soft">{parts.filter(Boolean).join(" · ")}</div>
        {told && (
          <div className="history-error">
            {told.title}
            {told.detail && <div>{told.detail}</div>}
            {job.error?.hint && <div className="soft">{told.hint}</div>}
          </div>
        )}
      </div>
    </li>
  );
}
