import { Alert, Button } from "antd";
import { useEffect, useRef, useState } from "react";
import { readEvents } from "../api/events";
import { post, type Schemas } from "../api/client";
import { useText } from "../i18n";
import type { Answer } from "./asked";
import { Unanswered } from "./unanswered";

interface NoticesProps {
  readonly answer: Answer;
  readonly names: ReadonlyMap<string, string>;
  readonly onUpdated: () => void;
}

/** What limits these results, before they are read. */
export function Notices({ answer, names, onUpdated }: NoticesProps) {
  const t = useText();
  const stale = answer.projects.filter((project) => project.stale).map((project) => project.project_id);
  const unsearched = answer.projects.filter((project) => project.problem);
  const told = new Set(unsearched.map((project) => `${project.project_id}: ${project.problem?.detail}`));
  const degraded = answer.degraded.filter((text) => !told.has(text));
  return (
    <div className="notices">
      {answer.weak && answer.hits.length > 0 && (
        <Alert type="warning" showIcon title={t("search.weak")} description={t("search.weak.hint")} />
      )}
      <Unanswered projects={unsearched} indexing={answer.indexing} names={names} />
      {degraded.length > 0 && (
        <Alert
          type="info"
          showIcon
          title={t("search.degraded")}
          description={degraded.map((text) => (
            <p key={text}>{text}</p>
          ))}
        />
      )}
      {stale.map((id) => (
        <Stale key={id} projectId={id} name={names.get(id) ?? id} onUpdated={onUpdated} />
      ))}
    </div>
  );
}

interface StaleProps {
  readonly projectId: string;
  readonly name: string;
  readonly onUpdated: () => void;
}

/** Files have changed since: brings the index up to date, and has the search made again. */
function Stale({ projectId, name, onUpdated }: StaleProps) {
  const t = useText();
  const [isUpdating, setUpdating] = useState(false);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const controller = new AbortController();
    leaving.current = controller;
    return () => controller.abort();
  }, []);
  const update = async () => {
    const { signal } = leaving.current;
    setUpdating(true);
    try {
      const job = await post<Schemas["JobOut"]>(`/projects/${projectId}/index`, {}, signal);
      await readEvents(`/jobs/${job.id}/events`, { signal }, () => undefined);
      onUpdated();
    } catch {
      // The card of the project says what went wrong.
    }
    if (!signal.aborted) setUpdating(false);
  };
  return (
    <Alert
      type="info"
      showIcon
      title={t("search.stale", { project: name })}
      action={
        <Button size="small" disabled={isUpdating} onClick={() => void update()}>
          {t(isUpdating ? "search.updating" : "search.update")}
        </Button>
      }
    />
  );
}
