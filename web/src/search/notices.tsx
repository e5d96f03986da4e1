import { Alert, Button } from "antd";
import { useEffect, useRef, useState } from "react";
import { readEvents } from "../api/events";
import { post, type Schemas } from "../api/client";
import { useText } from "../i18n";
import type { Kind } from "../i18n/kinds";
import type { Note } from "../i18n/notes";
import { Said } from "../i18n/said";
import type { Answer } from "./asked";
import { Unanswered } from "./unanswered";

const PROJECT_FAILED: Kind = "project_failed";

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
  const told = new Set(unsearched.map((project) => project.project_id));
  const isTold = (note?: Note) => note?.kind === PROJECT_FAILED && told.has(String(note.values.project));
  const degraded = answer.degraded
    .map((text, place) => ({ text, note: answer.degraded_parts[place] }))
    .filter(({ note }) => !isTold(note));
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
          description={degraded.map(({ text, note }) => (
            <p key={text}>
              <Said text={text} notes={note && [note]} />
            </p>
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
