import type { Schemas } from "../api/client";

type Minute = Schemas["MinuteOut"];

export const MINUTES = 60;

/** Returns the last hour with a minute for each, also for those in which nothing was asked. */
export function wholeHour(minutes: readonly Minute[], now: number): Minute[] {
  const last = Math.floor(now / 60) * 60;
  const known = new Map(minutes.map((minute) => [minute.at, minute]));
  return Array.from({ length: MINUTES }, (_, index) => {
    const at = last - (MINUTES - 1 - index) * 60;
    return known.get(at) ?? { at, n_requests: 0, n_failed: 0, p50_ms: 0, p95_ms: 0 };
  });
}

/** Returns round numbers from 0 to at least `most`, about `count` of them. */
export function ticks(most: number, count = 4): number[] {
  if (most <= 0) return [0, 1];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const steps = Math.ceil(most / step - 1e-9);
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Returns the lines of a chart: one for each stretch of minutes in which something was asked. */
export function stretches<T>(points: readonly (T | undefined)[]): { readonly from: number; readonly points: T[] }[] {
  const found: { from: number; points: T[] }[] = [];
  points.forEach((point, index) => {
    if (point === undefined) return;
    const last = found[found.length - 1];
    if (last && last.from + last.points.length === index) last.points.push(point);
    else found.push({ from: index, points: [point] });
  });
  return found;
}

/** A name, how often, and how much of the whole that is. */
export interface Share {
  readonly name: string;
  readonly count: number;
  readonly share: number;
}

/** Returns the largest counts, and what is left as one with the name "" and how many names it stands for. */
export function shares(counts: Readonly<Record<string, number>>, most: number): { shown: Share[]; nOthers: number } {
  const ordered = Object.entries(counts).sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
  const total = ordered.reduce((sum, [, count]) => sum + count, 0) || 1;
  // One that is left would take the place that its own name needs.
  const cut = ordered.length > most + 1 ? most : ordered.length;
  const shown = ordered.slice(0, cut).map(([name, count]) => ({ name, count, share: count / total }));
  return { shown, nOthers: ordered.length - cut };
}

/** Adds counts of several projects. */
export function added(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

export interface Hour {
  readonly nRequests: number;
  readonly nFailed: number;
  readonly most: number;
  readonly p50: number;
  readonly p95: number;
}

/** Returns the hour in a few numbers. The times are means of the minutes, by how much was asked in each. */
export function inShort(minutes: readonly Minute[]): Hour {
  const nRequests = minutes.reduce((sum, minute) => sum + minute.n_requests, 0);
  const mean = (of: (minute: Minute) => number) =>
    nRequests ? minutes.reduce((sum, minute) => sum + of(minute) * minute.n_requests, 0) / nRequests : 0;
  return {
    nRequests,
    nFailed: minutes.reduce((sum, minute) => sum + minute.n_failed, 0),
    most: Math.max(0, ...minutes.map((minute) => minute.n_requests)),
    p50: mean((minute) => minute.p50_ms),
    p95: mean((minute) => minute.p95_ms),
  };
}
