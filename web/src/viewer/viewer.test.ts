import { describe, expect, it } from "vitest";
import { highlighted, plain, splitLines } from "./highlight";
import { linesOf, placeOf, searchWith, writtenPlace } from "./place";
import { nested, symbolAt } from "./symbols";
import { within } from "./width";
import { isMarked, MOST_LINES, stretched, windowAround } from "./window";

describe("a place", () => {
  const place = { projectId: "shop", path: "a b/ü&x.py", startLine: 10, endLine: 20 };

  it("survives the way through an address, beside what else stands there", () => {
    const search = searchWith("?q=price&lines=1&file=old", place);
    expect(new URLSearchParams(search).get("q")).toBe("price");
    expect(placeOf(search)).toEqual(place);
    expect(searchWith(search, undefined)).toBe("?q=price");
    expect(searchWith("?file=x", undefined)).toBe("");
  });

  it("may have odd lines, or none", () => {
    const lines = (text: string) => placeOf(`?project=p&file=f&lines=${text}`);
    expect(lines("7")).toMatchObject({ startLine: 7, endLine: 7 });
    expect(lines("20-10")).toMatchObject({ startLine: 20, endLine: 20 });
    expect(lines("0-3")).toMatchObject({ startLine: 1, endLine: 3 });
    expect(lines("x")).toMatchObject({ startLine: undefined });
    expect(placeOf("?project=p")).toBeUndefined();
  });

  it("is written as people write it", () => {
    expect(writtenPlace(place)).toBe("a b/ü&x.py:10-20");
    expect(writtenPlace({ ...place, endLine: 10 })).toBe("a b/ü&x.py:10");
    expect(linesOf({ projectId: "p", path: "f" })).toBe("");
  });
});

describe("the lines that are shown", () => {
  it("are all of a short file", () => {
    expect(windowAround({ startLine: 3_000 })).toEqual({ startLine: 1, endLine: MOST_LINES });
    expect(windowAround({})).toEqual({ startLine: 1, endLine: MOST_LINES });
  });

  it("hold the place, and what follows it", () => {
    for (let startLine = 1; startLine < 3 * MOST_LINES; startLine += 37) {
      const found = windowAround({ startLine });
      expect(found.startLine).toBeLessThanOrEqual(startLine);
      expect(found.endLine - startLine).toBeGreaterThanOrEqual(99);
    }
  });

  it("are marked from the first to the last of the place", () => {
    expect([9, 10, 20, 21].map((line) => isMarked(line, { startLine: 10, endLine: 20 }))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(isMarked(1, {})).toBe(false);
    expect(stretched(10, 4)).toEqual({ startLine: 4, endLine: 10 });
    expect(stretched(undefined, 4)).toEqual({ startLine: 4, endLine: 4 });
  });
});

describe("coloured code", () => {
  it("is cut into lines, each with its own spans", () => {
    expect(splitLines('<span class="a">x\n<span class="b">y</span>\n</span>z')).toEqual([
      '<span class="a">x</span>',
      '<span class="a"><span class="b">y</span></span>',
      '<span class="a"></span>z',
    ]);
  });

  it("says what the text says, and no HTML of it", async () => {
    const text = 'def f():\n    """<script>alert(1)</script>\n    & more"""\n';
    const lines = await highlighted(text, "python");
    expect(lines).toHaveLength(text.split("\n").length);
    expect(lines.join("\n")).toContain("hljs-keyword");
    expect(lines.join("\n")).not.toContain("<script>");
    const shown = lines.join("\n").replace(/<[^>]*>/g, "");
    expect(
      shown.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
    ).toBe(text);
  });

  it("is plain text where the language is not known", async () => {
    expect(await highlighted("<b>\n&", "no such language")).toEqual(plain("<b>\n&"));
    expect(plain("<b>\n&")).toEqual(["&lt;b&gt;", "&amp;"]);
  });
});

describe("the outline", () => {
  const symbol = (name: string, start_line: number, end_line: number) => ({
    name,
    start_line,
    end_line,
    kind: "function",
    name_line: start_line,
  });
  const items = nested([symbol("inner", 2, 4), symbol("Outer", 1, 9), symbol("second", 6, 8), symbol("last", 11, 12)]);

  it("has inner definitions below outer ones", () => {
    expect(items.map((item) => [item.symbol.name, item.depth])).toEqual([
      ["Outer", 0],
      ["inner", 1],
      ["second", 1],
      ["last", 0],
    ]);
  });

  it("knows in which of them a line lies", () => {
    expect(symbolAt(items, 7)?.symbol.name).toBe("second");
    expect(symbolAt(items, 5)?.symbol.name).toBe("Outer");
    expect(symbolAt(items, 10)).toBeUndefined();
    expect(symbolAt(items)).toBeUndefined();
  });
});

it("leaves room for the page and for itself", () => {
  expect(within(2_000, 1_440)).toBe(1_020);
  expect(within(10, 1_440)).toBe(360);
  expect(within(600, 1_440)).toBe(600);
});
