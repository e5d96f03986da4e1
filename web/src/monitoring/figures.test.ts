import { describe, expect, it } from "vitest";
import { added, inShort, MINUTES, shares, stretches, ticks, wholeHour } from "./figures";

const minute = (at: number, n_requests: number, n_failed = 0, p95_ms = 0) => ({
  at,
  n_requests,
  n_failed,
  p50_ms: p95_ms / 2,
  p95_ms,
});

describe("the last hour", () => {
  const hour = wholeHour([minute(0, 9), minute(7_140, 5, 1, 20), minute(7_200, 15, 0, 40)], 7_230);

  it("has each of its minutes, and none before it", () => {
    expect(hour).toHaveLength(MINUTES);
    expect(hour[0]).toEqual(minute(7_200 - 59 * 60, 0));
    expect(hour.map((one) => one.at)).toEqual(Array.from({ length: MINUTES }, (_, index) => 3_660 + index * 60));
    expect(hour.slice(-2).map((one) => one.n_requests)).toEqual([5, 15]);
  });

  it("is told in a few numbers, in which busy minutes count more", () => {
    expect(inShort(hour)).toEqual({ nRequests: 20, nFailed: 1, most: 15, p50: 17.5, p95: 35 });
    expect(inShort([])).toEqual({ nRequests: 0, nFailed: 0, most: 0, p50: 0, p95: 0 });
  });
});

describe("an axis", () => {
  it("has round numbers that reach the largest value", () => {
    expect(ticks(15)).toEqual([0, 5, 10, 15]);
    expect(ticks(952)).toEqual([0, 250, 500, 750, 1_000]);
    expect(ticks(0.3)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(ticks(0)).toEqual([0, 1]);
  });

  it("has few of them, whatever the values", () => {
    for (const most of [1e-4, 0.7, 1, 3, 9.99, 11, 101, 4_711, 1e7]) {
      const found = ticks(most);
      expect(found.length, `${most}`).toBeLessThanOrEqual(6);
      expect(found[found.length - 1], `${most}`).toBeGreaterThanOrEqual(most);
    }
  });
});

it("draws a line for each stretch without a gap", () => {
  expect(stretches([undefined, 1, 2, undefined, undefined, 3])).toEqual([
    { from: 1, points: [1, 2] },
    { from: 5, points: [3] },
  ]);
  expect(stretches([undefined])).toEqual([]);
});

describe("shares", () => {
  it("are the largest ones, and the rest as a number", () => {
    const { shown, nOthers } = shares({ go: 1, python: 6, rust: 1, css: 1, html: 1 }, 2);
    expect(shown).toEqual([
      { name: "python", count: 6, share: 0.6 },
      { name: "css", count: 1, share: 0.1 },
    ]);
    expect(nOthers).toBe(3);
  });

  it("are all of them where only one would be left", () => {
    expect(shares({ a: 1, b: 1, c: 1 }, 2)).toMatchObject({ nOthers: 0 });
    expect(shares({}, 2)).toEqual({ shown: [], nOthers: 0 });
  });

  it("are those of several projects together", () => {
    expect(added([{ python: 1, go: 2 }, { python: 3 }])).toEqual({ python: 4, go: 2 });
  });
});
