import { useEffect, useRef, useState } from "react";
import { get, isAbort } from "../api/client";
import { readEvents } from "../api/events";
import { after, isActive, type Job, type JobView, ofJob, waiting } from "./progress";

export interface Followed {
  readonly view: JobView | undefined;
  /** Whether the connection is lost, and tried again. */
  readonly isLost: boolean;
}

interface Following {
  readonly jobId: string;
  /** Whether the job runs: only then a connection is held, since a browser has but six for all its tabs. */
  readonly runs: boolean;
  /** Changes whenever the list of projects was loaded: a job that waits is looked at then. */
  readonly round: unknown;
  readonly onEnd: () => void;
}

/** What is known of a job, and goes on being known: from its stream while it runs, else looked at now and then. */
export function useJob({ jobId, runs, round, onEnd }: Following): Followed {
  const [view, setView] = useState<JobView>();
  const [isLost, setLost] = useState(false);
  const [gaveUp, setGaveUp] = useState<{ readonly round: unknown }>();
  const isSeen = useSeen();
  const latest = useRef({ onEnd, round });
  latest.current = { onEnd, round };
  const current = view?.jobId === jobId ? view : undefined;
  const isOver = current !== undefined && !isActive(current);
  // A server that was away for long is asked again when it has given the list of projects.
  const mayAsk = gaveUp === undefined || gaveUp.round !== round;
  const streams = Boolean(jobId) && runs && isSeen && !isOver && mayAsk;

  useEffect(() => {
    if (!streams) return;
    const controller = new AbortController();
    let known = waiting(jobId);
    const read = readEvents(
      `/jobs/${jobId}/events`,
      { signal: controller.signal, onRetry: () => setLost(true) },
      (event) => {
        known = after(known, event);
        setView(known);
        setLost(false);
      },
    );
    read
      .then(() => latest.current.onEnd())
      .catch((error: unknown) => {
        if (!isAbort(error)) setGaveUp({ round: latest.current.round });
      });
    return () => controller.abort();
  }, [jobId, streams]);

  useEffect(() => {
    if (!jobId || streams || isOver) return;
    const controller = new AbortController();
    get<Job>(`/jobs/${jobId}`, undefined, controller.signal)
      .then((job) => {
        setView(ofJob(job));
        setLost(false);
      })
      .catch(() => undefined); // the list says that the server is away
    return () => controller.abort();
  }, [jobId, streams, isOver, round]);

  return { view: current, isLost };
}

/** Whether the tab is looked at. */
export function useSeen(): boolean {
  const [isSeen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    const listener = () => setSeen(!document.hidden);
    document.addEventListener("visibilitychange", listener);
    return () => document.removeEventListener("visibilitychange", listener);
  }, []);
  return isSeen;
}
