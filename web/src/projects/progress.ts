/** From the events of a job to what a card shows. Events may come twice, and after a gap: what came last counts. */

import type { components } from "../api/types";

type Schemas = components["schemas"];
export type Job = Schemas["JobOut"];
export type Step = Schemas["StepOut"];
export type Report = Schemas["ReportOut"];
export type StoreReport = Schemas["StoreReportOut"];
export type Trouble = Schemas["TroubleOut"];
export type FileError = Schemas["FileErrorOut"];
export type JobState = "queued" | "running" | "done" | "failed" | "cancelled";

export interface JobEvent {
  readonly type: string;
  readonly data?: unknown;
}

export interface JobView {
  readonly jobId: string;
  readonly state: JobState;
  readonly phase: string;
  readonly currentFile: string;
  readonly current: number;
  readonly total: number;
  /** Of the whole run, 0 to 100; does not go back while the run lasts. */
  readonly percent: number;
  readonly nChunks: number;
  readonly filesPerSecond: number;
  readonly remainingSeconds: number | null;
  readonly message: string;
  readonly fileErrors: readonly FileError[];
  readonly report: Report | null;
  /** How a move of the vectors ended. */
  readonly moved: StoreReport | null;
  readonly trouble: Trouble | null;
}

const ENDED: readonly string[] = ["done", "failed", "cancelled"];
/** Where in the whole run a phase begins and ends, in percent. */
const SHARES: Readonly<Record<string, readonly [number, number]>> = {
  clone: [0, 3],
  scan: [1, 4],
  index: [4, 92],
  purposes: [92, 96],
  write: [96, 99],
  embed: [96, 99], // a slow embedding model, after all can be found
  map: [99, 99],
  move: [1, 99], // a job of its own
};
const MOST_ERRORS = 200;

export function waiting(jobId: string): JobView {
  return {
    jobId,
    state: "queued",
    phase: "queued",
    currentFile: "",
    current: 0,
    total: 0,
    percent: 0,
    nChunks: 0,
    filesPerSecond: 0,
    remainingSeconds: null,
    message: "",
    fileErrors: [],
    report: null,
    moved: null,
    trouble: null,
  };
}

export function isActive(view: JobView): boolean {
  return !ENDED.includes(view.state);
}

/** A job as the server tells it whole. */
export function ofJob(job: Job): JobView {
  const state = job.state as JobState;
  const begun = stepped(waiting(job.id), job.progress);
  return {
    ...begun,
    state,
    percent: state === "done" ? 100 : begun.percent,
    fileErrors: job.file_errors,
    report: job.report ?? null,
    moved: job.moved ?? null,
    trouble: job.error ?? null,
  };
}

/** What is known after an event. */
export function after(view: JobView, event: JobEvent): JobView {
  switch (event.type) {
    case "status":
      return ofJob(event.data as Job);
    case "queued":
      return waiting((event.data as { job_id: string }).job_id);
    case "file_error":
      return withError(view, event.data as FileError);
    case "scan_complete":
      return { ...view, total: (event.data as { file_count: number }).file_count };
    case "complete":
      return { ...view, report: (event.data as { report: Report }).report };
    case "moved":
      return { ...view, moved: event.data as StoreReport };
    case "error":
      return { ...view, trouble: event.data as Trouble };
    case "cancelled":
      return { ...view, state: "cancelled", remainingSeconds: null };
    case "done":
      return ended(view, (event.data as { state: JobState }).state);
    default:
      return isStep(event.data) && isActive(view) ? { ...stepped(view, event.data), state: "running" } : view;
  }
}

function isStep(data: unknown): data is Step {
  return typeof data === "object" && data !== null && "phase" in data;
}

function stepped(view: JobView, step: Step): JobView {
  const percent = percentOf(step);
  // A run that another server takes up begins anew.
  const isAnew = step.phase === "starting";
  return {
    ...view,
    phase: step.phase,
    currentFile: step.current_file,
    current: step.current,
    total: step.total,
    percent: isAnew ? percent : Math.max(view.percent, percent),
    nChunks: step.chunk_count || view.nChunks,
    filesPerSecond: step.files_per_second,
    remainingSeconds: step.estimated_remaining_seconds ?? null,
    message: step.message,
  };
}

function percentOf(step: Step): number {
  const [start, end] = SHARES[step.phase] ?? [0, 0];
  const done = step.total > 0 ? Math.min(step.current / step.total, 1) : 0;
  return Math.round((start + (end - start) * done) * 10) / 10;
}

function withError(view: JobView, error: FileError): JobView {
  const isKnown = view.fileErrors.some((known) => known.path === error.path && known.reason === error.reason);
  return isKnown ? view : { ...view, fileErrors: [...view.fileErrors, error].slice(0, MOST_ERRORS) };
}

function ended(view: JobView, state: JobState): JobView {
  return { ...view, state, phase: state, remainingSeconds: null, percent: state === "done" ? 100 : view.percent };
}
