import { describe, expect, it } from "vitest";
import { formatOf } from "../i18n/format";
import { remainingText, sharesOf, tookText } from "./amounts";

describe("what remains", () => {
  it.each([
    [0, "1 sec"],
    [0.2, "1 sec"],
    [7.3, "8 sec"],
    [10.1, "15 sec"],
    [54, "55 sec"],
    [56, "1 min"],
    [100, "2 min"],
    [3_500, "58 min"],
    [3_590, "1 hr"],
    [4_000, "1 hr 10 min"],
    [7_100, "2 hr"],
  ])("of %d seconds is told as %s", (seconds, told) => {
    expect(remainingText(seconds, "en")).toBe(told);
  });

  it("never becomes more when there is less to do", () => {
    const inSeconds = (text: string) =>
      [...text.matchAll(/(\d+) (sec|min|hr)/g)].reduce(
        (sum, [, n, unit]) => sum + Number(n) * { sec: 1, min: 60, hr: 3_600 }[unit as "sec" | "min" | "hr"],
        0,
      );
    const told = Array.from({ length: 1_000 }, (_, place) => inSeconds(remainingText(place * 11, "en")));
    expect(told).toEqual([...told].sort((one, other) => one - other));
  });

  it("is told in Chinese", () => {
    expect(remainingText(100, "zh")).toBe("2分钟");
  });
});

it.each([
  [0, "1 ms"],
  [0.0134, "13 ms"],
  [1.62, "1.6 sec"],
  [240, "4 min"],
])("what took %d seconds is told as %s", (seconds, told) => {
  expect(tookText(formatOf("en"), seconds)).toBe(told);
});

describe("shares", () => {
  it("name the largest, and sum up the others", () => {
    expect(sharesOf({ go: 10, python: 70, bash: 15, css: 5 }, 2)).toEqual([
      { name: "python", count: 70, percent: 70 },
      { name: "bash", count: 15, percent: 15 },
      { name: "", count: 15, percent: 15 },
    ]);
  });

  it("have no rest where all are named, and do not depend on the order of equals", () => {
    expect(sharesOf({ b: 1, a: 1 }, 2).map((share) => share.name)).toEqual(["a", "b"]);
  });

  it("of nothing are none", () => {
    expect(sharesOf({}, 3)).toEqual([]);
    expect(sharesOf({ python: 0 }, 3)).toEqual([]);
  });
});
