import { useEffect, useRef } from "react";
import { asProblem, get, isAbort, Problem, type Schemas } from "../api/client";
import { readEvents } from "../api/events";
import { after, type Job, type JobView, waiting } from "./progress";
import type { Outcome } from "./store-told";

export interface Move {
  readonly view: JobView;
  readonly isLost: boolean;
}

/** Follow the move that runs when the page comes, and each that is begun here, to its end. */
export function useMove(projectId: string, onMove: (move: Move | undefined) => void, onEnd: (ended: Outcome) => void) {
  const controller = useRef<AbortController>(undefined);
  const latest = useRef({ onMove, onEnd });
  latest.current = { onMove, onEnd };
  const follow = useRef(async (job: Job) => {
    const signal = controller.current?.signal;
    const target = job.move_to;
    let view = waiting(job.id);
    const tell = (isLost: boolean) => latest.current.onMove({ view, isLost });
    tell(false);
    try {
      await readEvents(`/jobs/${job.id}/events`, { signal, onRetry: () => tell(true) }, (event) => {
        view = after(view, event);
        tell(false);
      });
    } catch (error) {
      if (isAbort(error)) return;
      latest.current.onEnd({ target, action: "move", problem: asProblem(error) });
    }
    latest.current.onMove(undefined);
    if (view.moved) latest.current.onEnd({ target, action: "move", report: view.moved });
    else if (view.trouble) latest.current.onEnd({ target, action: "move", problem: problemOf(view.trouble) });
  });
  useEffect(() => {
    const own = (controller.current = new AbortController());
    get<Schemas["JobsOut"]>("/jobs", { project_id: projectId }, own.signal)
      .then(({ jobs }) => jobs.find((job) => job.move_to && (job.state === "queued" || job.state === "running")))
      .then((job) => job && follow.current(job))
      .catch(() => undefined); // what is in use is shown all the same
    return () => own.abort();
  }, [projectId]);
  return follow.current;
}

function problemOf(trouble: Schemas["TroubleOut"]): Problem {
  return new Problem(502, trouble.code, trouble.detail, trouble.hint);
}
