import { describe, expect, it } from "vitest";
import { barsOf, type Explained } from "./signals";

const EXPLAINED: readonly Explained[] = [
  { name: "lexical", meaning: "words", weight: 0.5, weight_for_long_text: 3 },
  { name: "vector", meaning: "meaning", weight: 2, weight_for_long_text: 1 },
  { name: "test", meaning: "tests count less", weight: -1, weight_for_long_text: -4 },
  { name: "repeat", meaning: "its share", weight: 0, weight_for_long_text: 0 },
];

describe("bars", () => {
  it("say what each signal adds, the strongest first, and leave none out", () => {
    const bars = barsOf({ repeat: 1, lexical: 1, test: 1, vector: 0.9, names: 0 }, EXPLAINED);
    expect(bars.map((bar) => [bar.name, bar.added])).toEqual([
      ["vector", 1.8],
      ["test", -1],
      ["lexical", 0.5],
      ["names", 0],
      ["repeat", 0],
    ]);
    expect(bars[0]?.share).toBe(1);
    expect(bars[1]?.share).toBeCloseTo(-1 / 1.8);
    expect(bars[2]).toMatchObject({ meaning: "words", value: 1 });
    expect(bars[3]).toMatchObject({ meaning: "", share: 0 });
  });

  it("of a search that does not weigh show the numbers themselves", () => {
    expect(barsOf({ matches: 4, scope: 1 }, EXPLAINED).map((bar) => [bar.name, bar.share])).toEqual([
      ["matches", 1],
      ["scope", 0.25],
    ]);
  });

  it("of a long text are those of its own weights", () => {
    const bars = barsOf({ lexical: 1, vector: 1, long_text: 1 }, EXPLAINED);
    expect(bars.map((bar) => [bar.name, bar.added])).toEqual([
      ["lexical", 3],
      ["vector", 1],
      ["long_text", 0],
    ]);
  });

  it("of nothing are flat", () => {
    expect(barsOf({ lexical: 0, vector: 0 }, EXPLAINED).map((bar) => bar.share)).toEqual([0, 0]);
    expect(barsOf({}, EXPLAINED)).toEqual([]);
  });
});
