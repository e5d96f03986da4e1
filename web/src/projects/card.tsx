import { BranchesOutlined, FolderOutlined, MoreOutlined, SearchOutlined, SyncOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { lazy, Suspense, useEffect, useState } from "react";
import { Link } from "react-router";
import { post } from "../api/client";
import { type Key, useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Said } from "../i18n/said";
import { useMay } from "../session";
import { sharesOf } from "./amounts";
import type { Tab } from "./tabs";
import { useFailure } from "./failure";
import { useJob } from "./following";
import type { Project } from "./listed";
import { Outcome } from "./outcome";
import { isActive, type Job } from "./progress";
import { Running } from "./running";

const More = lazy(() => import("./more"));

interface CardProps {
  readonly project: Project;
  /** The list in which it came: another one each time it is loaded. */
  readonly round: unknown;
  readonly onChange: () => void;
  readonly onDetails: (tab: Tab) => void;
}

/** A project: what it is, how its index is, and what can be done with it. */
export function Card({ project, round, onChange, onDetails }: CardProps) {
  const t = useText();
  const may = useMay(project.id);
  const [started, setStarted] = useState<Job>();
  const jobId = useLatest(project.job_id, started?.id);
  const runs = project.status === "indexing" || (started?.id === jobId && started.state === "running");
  const { view, isLost } = useJob({ jobId, runs, round, onEnd: onChange });
  const isBusy = view ? isActive(view) : Boolean(project.job_id);
  const status = view && isActive(view) ? (view.state === "queued" ? "queued" : "indexing") : project.status;
  const begin = useBegin(project.id, (job) => {
    setStarted(job);
    onChange();
  });
  return (
    <li className="card panel" data-project={project.id} data-status={status}>
      <div className="card-head">
        <h2>{project.name}</h2>
        <span className={`status is-${status}`}>{t(`projects.status.${status}` as Key)}</span>
        <Suspense fallback={<Button type="text" icon={<MoreOutlined />} aria-hidden tabIndex={-1} />}>
          <More
            project={project}
            isBusy={isBusy}
            onFull={() => begin(true)}
            onChange={onChange}
            onDetails={onDetails}
          />
        </Suspense>
      </div>
      <div className="card-root mono" title={project.root}>
        {project.url || project.revision ? <BranchesOutlined aria-hidden /> : <FolderOutlined aria-hidden />}
        <bdi>{[project.url || project.root, project.revision].filter(Boolean).join(" ")}</bdi>
      </div>
      <Contents project={project} />
      {view && isActive(view) && <Running name={project.name} view={view} isLost={isLost} />}
      {view && !isActive(view) && <Outcome view={view} onLeftOut={() => onDetails("left-out")} />}
      {!view && project.problem && (
        <p className="card-problem">
          <Said text={project.problem} notes={project.problem_parts} />
        </p>
      )}
      <div className="card-foot">
        <When project={project} />
        {may("indexer") && (
          <Button icon={<SyncOutlined />} disabled={isBusy} onClick={() => begin(false)}>
            {t(project.generation ? "projects.update" : "projects.index")}
          </Button>
        )}
        {project.generation > 0 && (
          <Link to={`/project/${encodeURIComponent(project.id)}`}>{t("projects.overview")}</Link>
        )}
        {project.generation > 0 && (
          <Link className="card-search" to={`/search?in=${encodeURIComponent(project.id)}`}>
            <SearchOutlined aria-hidden /> {t("projects.search")}
          </Link>
        )}
      </div>
    </li>
  );
}

/** The job to show: the one the list names, or the one that was begun here; when there is none any more, the last. */
function useLatest(listed: string, begun: string | undefined): string {
  const [latest, setLatest] = useState(listed);
  useEffect(() => {
    if (begun) setLatest(begun);
  }, [begun]);
  useEffect(() => {
    if (listed) setLatest(listed);
  }, [listed]);
  return latest;
}

function useBegin(projectId: string, onBegun: (job: Job) => void): (full: boolean) => void {
  const fail = useFailure();
  return (full) => {
    post<Job>(`/projects/${encodeURIComponent(projectId)}/index`, { full }).then(onBegun, fail);
  };
}

function Contents({ project }: { readonly project: Project }) {
  const t = useText();
  const format = useFormat();
  const shares = sharesOf(project.languages, 4);
  if (!project.generation) return null;
  const counts = [
    ["projects.files", project.n_documents],
    ["projects.chunks", project.n_chunks],
    ["projects.symbols", project.n_symbols],
  ] as const;
  return (
    <>
      <dl className="counts">
        {counts.map(([name, count]) => (
          <div key={name}>
            <dt>{t(name, { n: count })}</dt>
            <dd>{format.number(count)}</dd>
          </div>
        ))}
      </dl>
      <div className="languages" role="img" aria-label={spoken()}>
        {shares.map((share, place) => (
          <span key={share.name} style={{ width: `${share.percent}%`, background: colour(place, share.name) }} />
        ))}
      </div>
      <ul className="legend" aria-hidden>
        {shares.map((share, place) => (
          <li key={share.name}>
            <i style={{ background: colour(place, share.name) }} />
            {share.name || t("projects.languages.other")}{" "}
            <span className="soft">{format.percent(share.percent / 100)}</span>
          </li>
        ))}
      </ul>
    </>
  );

  function spoken(): string {
    const each = shares.map((one) => `${one.name || t("projects.languages.other")} ${format.number(one.count)}`);
    return `${t("projects.languages")}: ${each.join(", ")}`;
  }
}

function colour(place: number, name: string): string {
  return name ? `var(--chart-${place + 1})` : "var(--chart-8)";
}

function When({ project }: { readonly project: Project }) {
  const t = useText();
  const format = useFormat();
  if (project.status === "damaged") return <span className="card-when">{t("projects.damaged")}</span>;
  if (!project.generation) return <span className="card-when">{t("projects.never")}</span>;
  if (!project.indexed_at) return <span className="card-when">{t("projects.incomplete")}</span>;
  return (
    <time
      className="card-when"
      dateTime={new Date(project.indexed_at * 1000).toISOString()}
      title={format.date(project.indexed_at)}
    >
      {t("projects.indexed", { ago: format.ago(project.indexed_at) })}
    </time>
  );
}
