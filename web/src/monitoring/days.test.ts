import { expect, test } from "vitest";
import { DAYS, daysOf } from "./days";

const EMPTY = {
  n_questions: 0,
  n_failed: 0,
  p50_ms: 0,
  p95_ms: 0,
  n_answers: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost: null,
  n_jobs: 0,
  n_failed_jobs: 0,
  job_seconds: 0,
  longest_job_s: 0,
  memory_bytes: 0,
};
const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime() / 1000;

test("hours become days, also those on which nothing was done", () => {
  const hours = [
    { ...EMPTY, at: at(26, 0), n_questions: 2, p95_ms: 30, cost: 0.5, memory_bytes: 7, prompt_tokens: 3 },
    { ...EMPTY, at: at(26, 23), n_questions: 3, n_failed: 1, p95_ms: 20, memory_bytes: 9, completion_tokens: 4 },
    { ...EMPTY, at: at(27, 8), n_jobs: 1 },
  ];
  const days = daysOf(hours, new Date(2026, 10, 27, 9));
  expect(days).toHaveLength(DAYS);
  expect(days.at(-2)).toMatchObject({ nQuestions: 5, nFailed: 1, p95: 30, cost: 0.5, memory: 9, tokens: 7 });
  expect(days.at(-1)).toMatchObject({ at: at(27, 0), nQuestions: 0, nJobs: 1, cost: undefined });
  expect(days[0]).toMatchObject({ at: new Date(2026, 9, 29).getTime() / 1000, nQuestions: 0 });
});

test("the day on which the clock is put back is one day", () => {
  const days = daysOf([], new Date(2026, 10, 10));
  const begins = days.map((day) => new Date(day.at * 1000).getHours());
  expect(new Set(begins)).toEqual(new Set([0]));
});
