import { describe, expect, it } from "vitest";
import { excerptOf, indentOf } from "./excerpt";

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, place) => `line ${place}`);
}

describe("an excerpt", () => {
  it("is the whole of a short place, without blank lines at its end", () => {
    expect(excerptOf([...numbered(5), "", ""], 11, 12, 6)).toEqual({ firstLine: 11, from: 0, to: 5, hidden: 0 });
    expect(excerptOf([], 1, 1, 6)).toEqual({ firstLine: 1, from: 0, to: 0, hidden: 0 });
  });

  it("holds the line to look at, wherever it is", () => {
    const lines = numbered(100);
    for (let line = 40; line < 140; line += 1) {
      const found = excerptOf(lines, 40, line, 8);
      expect(found.to - found.from).toBe(8);
      expect(found.firstLine).toBe(40 + found.from);
      expect(line).toBeGreaterThanOrEqual(found.firstLine);
      expect(line).toBeLessThan(found.firstLine + 8);
      expect(found.hidden).toBe(92);
    }
  });

  it("does not begin with blank lines", () => {
    const lines = ["x", "", " ", "", "class Cart:", ...numbered(20)];
    expect(excerptOf(lines, 1, 5, 8)).toMatchObject({ firstLine: 5, from: 4 });
  });

  it("stays inside the place when the line does not", () => {
    expect(excerptOf(numbered(50), 10, 0, 8).from).toBe(0);
    expect(excerptOf(numbered(50), 10, 900, 8).to).toBe(50);
  });
});

it("lines begin with as many blanks as the least indented has; blank lines do not count", () => {
  expect(indentOf(["    a", "", "      b", "  "])).toBe(4);
  expect(indentOf(["", " "])).toBe(0);
});
