import { describe, expect, it } from "vitest";
import {
  after,
  isActive,
  type Job,
  type JobEvent,
  type JobView,
  ofJob,
  type Report,
  type Step,
  waiting,
} from "./progress";

const STEP: Step = {
  phase: "index",
  current_file: "shop/cart.py",
  current: 0,
  total: 0,
  percent: 0,
  chunk_count: 0,
  files_per_second: 0,
  estimated_remaining_seconds: null,
  message: "",
};
const REPORT: Report = {
  n_added: 12,
  n_changed: 0,
  n_removed: 0,
  n_unchanged: 0,
  n_failed: 1,
  skipped: { binary: 3 },
  n_files: 12,
  n_chunks: 80,
  n_symbols: 40,
  kinds: { function: 80 },
  n_bytes: 5_000,
  seconds: 0.4,
  generation: 2,
  index_dir: "/srv/shop/.fathom",
  paused: "",
  n_by_text: 0,
  lost: "",
  store_problem: "",
  missing_grammars: [],
  missing_grammars_parts: [],
};
const JOB: Job = {
  id: "j1",
  project_id: "shop",
  full: false,
  move_to: "",
  state: "running",
  attempts: 1,
  created_at: 1,
  started_at: 2,
  ended_at: 0,
  progress: { ...STEP, current: 6, total: 12, chunk_count: 30, files_per_second: 9 },
  report: null,
  error: null,
  file_errors: [{ path: "a.py", reason: "unreadable" }],
};

function step(type: string, values: Partial<Step>): JobEvent {
  return { type, data: { ...STEP, ...values } };
}

const WHOLE: readonly JobEvent[] = [
  { type: "queued", data: { job_id: "j1", project_id: "shop" } },
  step("starting", { phase: "starting" }),
  step("scan_start", { phase: "scan" }),
  { type: "scan_complete", data: { file_count: 12 } },
  step("indexing", { current: 6, total: 12, files_per_second: 30, estimated_remaining_seconds: 0.2 }),
  { type: "file_error", data: { path: "a.py", reason: "unreadable" } },
  step("indexing", { current: 12, total: 12, chunk_count: 80 }),
  step("saving", { phase: "write", current: 1, total: 2 }),
  { type: "complete", data: { file_count: 12, chunk_count: 80, duration_seconds: 0.4, report: REPORT } },
  { type: "done", data: { job_id: "j1", state: "done" } },
];

function told(events: readonly JobEvent[], first: JobView = waiting("")): JobView {
  return events.reduce(after, first);
}

describe("a job", () => {
  it("goes from queued to done", () => {
    const states = WHOLE.map((_, place) => told(WHOLE.slice(0, place + 1)));
    expect(states.map((view) => view.state)).toEqual(["queued", ...Array<string>(8).fill("running"), "done"]);
    const last = states.at(-1);
    expect(last).toMatchObject({ jobId: "j1", percent: 100, nChunks: 80, remainingSeconds: null });
    expect(last?.report?.skipped).toEqual({ binary: 3 });
    expect(last?.fileErrors).toEqual([{ path: "a.py", reason: "unreadable" }]);
  });

  it("never goes back", () => {
    const percents = WHOLE.map((_, place) => told(WHOLE.slice(0, place + 1)).percent);
    expect(percents).toEqual([...percents].sort((one, other) => one - other));
    expect(percents[4]).toBe(48);
  });

  it("is the same when events are told twice", () => {
    const twice = WHOLE.slice(1, -1).flatMap((event) => [event, event]);
    expect(told([...WHOLE.slice(0, 1), ...twice, ...WHOLE.slice(-1)])).toEqual(told(WHOLE));
  });

  it("is known whole from its status, whatever was known before", () => {
    const found = told([{ type: "status", data: JOB }], told(WHOLE));
    expect(found).toEqual(ofJob(JOB));
    expect(found).toMatchObject({ state: "running", current: 6, percent: 48, nChunks: 30, filesPerSecond: 9 });
    expect(isActive(found)).toBe(true);
  });

  it("begins anew when another server takes it up", () => {
    const begun = told(WHOLE.slice(0, 6));
    const again = told([{ type: "status", data: { ...JOB, state: "queued", progress: STEP } }], begun);
    expect(again.percent).toBeLessThan(begun.percent);
    expect(told([step("starting", { phase: "starting" })], begun).percent).toBe(0);
  });

  it.each(["cancelled", "failed"] as const)("that was %s stays where it was", (state) => {
    const end: JobEvent = { type: "done", data: { job_id: "j1", state } };
    const found = told([...WHOLE.slice(0, 5), end]);
    expect(found).toMatchObject({ state, percent: 48, remainingSeconds: null });
    expect(isActive(found)).toBe(false);
    expect(told([step("indexing", { current: 12, total: 12 })], found)).toEqual(found);
  });

  it("that failed says why", () => {
    const said = { code: "crashed", detail: "it ended with signal 9", hint: "start it again" };
    const trouble = { ...said, detail_parts: [], hint_parts: [] };
    const events = [
      ...WHOLE.slice(0, 4),
      { type: "error", data: trouble },
      { type: "done", data: { state: "failed" } },
    ];
    expect(told(events).trouble).toEqual(trouble);
    expect(ofJob({ ...JOB, state: "failed", error: trouble }).trouble).toEqual(trouble);
  });

  it("that moves vectors tells how far it is, and how the store agrees", () => {
    const moved = { store: "faiss", n_rows: 80, same: 1, problem: "" };
    const half = [step("starting", { phase: "starting" }), step("move", { phase: "move", current: 40, total: 80 })];
    const view = half.reduce(after, waiting("j1"));
    expect(view).toMatchObject({ phase: "move", percent: 50, moved: null });
    const ended = [
      { type: "moved", data: moved },
      { type: "done", data: { state: "done" } },
    ].reduce(after, view);
    expect(ended).toMatchObject({ state: "done", moved, report: null });
    expect(after(view, { type: "status", data: { ...JOB, state: "done", moved } }).moved).toEqual(moved);
  });

  it("is not changed by what is not understood", () => {
    const view = told(WHOLE.slice(0, 5));
    expect(told([{ type: "lost", data: { events: 3 } }, { type: "news" }, { type: "odd", data: null }], view)).toEqual(
      view,
    );
  });
});
