import hljs from "highlight.js/lib/core";
import python from "highlight.js/lib/languages/python";
import { beforeAll, describe, expect, it } from "vitest";
import { marksIn, wordsOf } from "./marks";
import { linesOfTokens, markedTokens } from "./tokens";

const CODE = 'def price_of(order: "Order") -> int:\n    """One\n\n    & <two>\'s."""\n    return order.price\n';

beforeAll(() => hljs.registerLanguage("python", python));

function highlighted(code: string): string {
  return hljs.highlight(code, { language: "python" }).value;
}

describe("highlighted code", () => {
  it("is the code, line by line", () => {
    const lines = linesOfTokens(highlighted(CODE));
    expect(lines.map((tokens) => tokens.map((token) => token.text).join(""))).toEqual(CODE.split("\n"));
  });

  it("keeps its colours over the end of a line", () => {
    const lines = linesOfTokens(highlighted(CODE));
    expect(lines[0]?.find((token) => token.text === "price_of")?.style).toContain("title");
    expect(lines[1]?.find((token) => token.text.includes("One"))?.style).toBe("hljs-string");
    expect(lines[3]?.find((token) => token.text.includes("& <two>'s."))?.style).toBe("hljs-string");
  });

  it("is only text, whatever stands in it", () => {
    const odd = "x = '</span><script>alert(1)</script>&amp;'";
    const [line] = linesOfTokens(highlighted(odd));
    expect(line?.map((token) => token.text).join("")).toBe(odd);
  });
});

describe("marks in highlighted code", () => {
  it("cut tokens, and lose nothing", () => {
    const words = wordsOf("price of orders");
    CODE.split("\n").forEach((line, place) => {
      const tokens = linesOfTokens(highlighted(CODE))[place] ?? [];
      const pieces = markedTokens(tokens, marksIn(line, words));
      expect(pieces.map((piece) => piece.text).join("")).toBe(line);
    });
    const first = markedTokens(linesOfTokens(highlighted(CODE))[0] ?? [], marksIn(CODE.split("\n")[0] ?? "", words));
    expect(first.filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(["price", "order", "Order"]);
    expect(first.find((piece) => piece.text === "_of")?.style).toContain("title");
  });

  it("begin at a column where a line is not shown from its start", () => {
    const tokens = [
      { text: "    re", style: "" },
      { text: "turn x", style: "k" },
    ];
    expect(markedTokens(tokens, [[5, 8]], 4)).toEqual([
      { text: "r", style: "", marked: false },
      { text: "e", style: "", marked: true },
      { text: "tu", style: "k", marked: true },
      { text: "rn x", style: "k", marked: false },
    ]);
    expect(markedTokens(tokens, [], 8)).toEqual([{ text: "rn x", style: "k", marked: false }]);
  });
});
