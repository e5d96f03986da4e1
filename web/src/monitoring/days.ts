import type { Schemas } from "../api/client";

type Hour = Schemas["HourOut"];

export const DAYS = 30;

/** What the server did on one day, by the clock of the reader. */
export interface Day {
  /** Its first second, since the epoch. */
  readonly at: number;
  readonly nQuestions: number;
  readonly nFailed: number;
  /** Of the slowest hour. */
  readonly p95: number;
  readonly nAnswers: number;
  readonly tokens: number;
  /** Undefined where no price is known. */
  readonly cost: number | undefined;
  readonly nJobs: number;
  readonly nFailedJobs: number;
  readonly jobSeconds: number;
  readonly memory: number;
}

/** Returns the last 30 days, the oldest first, also those on which nothing was done. */
export function daysOf(hours: readonly Hour[], now: Date = new Date()): Day[] {
  const byDay = new Map<number, Hour[]>();
  for (const hour of hours) {
    const at = beginOf(new Date(hour.at * 1000), 0);
    byDay.set(at, [...(byDay.get(at) ?? []), hour]);
  }
  return Array.from({ length: DAYS }, (_, index) => {
    const at = beginOf(now, DAYS - 1 - index);
    return dayOf(at, byDay.get(at) ?? []);
  });
}

/** Not a number of seconds before: some days have 23 hours, others 25. */
function beginOf(time: Date, daysBefore: number): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() - daysBefore).getTime() / 1000;
}

function dayOf(at: number, hours: readonly Hour[]): Day {
  const sum = (of: (hour: Hour) => number) => hours.reduce((total, hour) => total + of(hour), 0);
  const most = (of: (hour: Hour) => number) => Math.max(0, ...hours.map(of));
  const hasCost = hours.some((hour) => typeof hour.cost === "number");
  return {
    at,
    nQuestions: sum((hour) => hour.n_questions),
    nFailed: sum((hour) => hour.n_failed),
    p95: most((hour) => hour.p95_ms),
    nAnswers: sum((hour) => hour.n_answers),
    tokens: sum((hour) => hour.prompt_tokens + hour.completion_tokens),
    cost: hasCost ? sum((hour) => hour.cost ?? 0) : undefined,
    nJobs: sum((hour) => hour.n_jobs),
    nFailedJobs: sum((hour) => hour.n_failed_jobs),
    jobSeconds: sum((hour) => hour.job_seconds),
    memory: most((hour) => hour.memory_bytes),
  };
}
