import { describe, expect, it } from "vitest";
import { linked, lookUpIn, piecesOf, shortName } from "./citations";

const PATHS = ["shop/pricing.py", "pricing.py", "shop/__init__.py", "web/app/[id]/page.tsx", "my docs/a b.md"];
const anywhere = (path: string, startLine: number, endLine: number) => ({
  projectId: "shop",
  path,
  startLine,
  endLine,
});

function kinds(text: string): string[] {
  return piecesOf(text, PATHS, anywhere).map((piece) => `${piece.kind}: ${piece.text}`);
}

function source(path: string, projectId = "shop", file = path) {
  const place = {
    start_line: 1,
    end_line: 90,
    symbol: "",
    reason: "",
    score: 1,
    number: 1,
    module: "",
    place: "",
    place_parts: [],
  };
  return { id: path, path, project_id: projectId, file, ...place };
}

describe("the pieces of an answer", () => {
  it("are prose and citations", () => {
    expect(kinds("It sums [shop/pricing.py:6-8], see [pricing.py:1-2].")).toEqual([
      "prose: It sums ",
      "citation: [shop/pricing.py:6-8]",
      "prose: , see ",
      "citation: [pricing.py:1-2]",
      "prose: .",
    ]);
  });

  it.each(["[shop/__init__.py:1-3]", "[web/app/[id]/page.tsx:3-9]", "[my docs/a b.md:1-1]"])(
    "find %s whole",
    (text) => {
      expect(kinds(`see ${text}`)).toEqual(["prose: see ", `citation: ${text}`]);
    },
  );

  it("have no citation of a path that is no source", () => {
    expect(kinds("[other.py:1-2] and [shop/pricing.py] and a[1:2]")).toEqual([
      "prose: [other.py:1-2] and [shop/pricing.py] and a[1:2]",
    ]);
  });

  it.each([
    "`[pricing.py:1-2]`",
    "``x ` [pricing.py:1-2]``",
    "```python\n[pricing.py:1-2]\n```",
    "~~~\n[pricing.py:1-2]\n```\n~~~",
    "   ```\n[pricing.py:1-2]\n   ```",
  ])("leave code alone: %j", (code) => {
    expect(kinds(`a\n\n${code}\n\nb [pricing.py:3-4]`)).toEqual([
      "prose: a\n\n",
      `code: ${code}`,
      "prose: \n\nb ",
      "citation: [pricing.py:3-4]",
    ]);
  });

  it("take a block whose end has not come yet as code", () => {
    expect(kinds("a\n```\nx [pricing.py:1-2]")).toEqual(["prose: a\n", "code: ```\nx [pricing.py:1-2]"]);
  });

  it.each(["", "a ` b", "``` `", "[", "]:1-2]", "a:1-2]", "\n\n```"])("are all of the text: %j", (text) => {
    const pieces = piecesOf(text, PATHS, anywhere);
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  });
});

describe("what a citation means", () => {
  const sources = [source("shop/shop/cart.py", "shop", "shop/cart.py")];

  it("is a place in the source of that path", () => {
    expect(lookUpIn({ sources, citations: undefined })("shop/shop/cart.py", 3, 4)).toEqual({
      projectId: "shop",
      path: "shop/cart.py",
      startLine: 3,
      endLine: 4,
    });
  });

  it("is nothing that the server has not found once the answer is whole", () => {
    const citations = [
      { path: "shop/shop/cart.py", start_line: 3, end_line: 4, symbol: "", place: "", place_parts: [] },
    ];
    const lookUp = lookUpIn({ sources, citations });
    expect(lookUp("shop/shop/cart.py", 3, 4)).toBeDefined();
    expect(lookUp("shop/shop/cart.py", 3, 5)).toBeUndefined();
    expect(lookUp("shop/other.py", 3, 4)).toBeUndefined();
  });
});

describe("links in an answer", () => {
  const answer = { sources: [source("shop/__init__.py")], citations: undefined };

  it("stand where the citations stood, numbered as they come", () => {
    const text = "A __name__ [shop/__init__.py:1-3], B [shop/__init__.py:5-6].";
    const { markdown, places } = linked({ ...answer, text }, "cite");
    expect(markdown).toBe("A __name__ [1](cite:0), B [2](cite:1).");
    expect(places.map((place) => place.startLine)).toEqual([1, 5]);
  });

  it("are no images after an exclamation mark", () => {
    expect(linked({ ...answer, text: "Look![shop/__init__.py:1-3]" }, "cite").markdown).toBe("Look\\![1](cite:0)");
  });
});

describe("a block of code", () => {
  const answer = { sources: [source("shop/cart.py")], citations: undefined };
  const of = (text: string) => linked({ ...answer, text }, "cite").markdown;

  it("has the language of the file that was cited before it", () => {
    expect(of("1. [shop/cart.py:1-2]: it\n\n```\nx = 1\n```\n")).toBe("1. [1](cite:0): it\n\n```py\nx = 1\n```\n");
  });

  it.each(["```\nx\n```", "[shop/cart.py:1-2]\n```go\nx\n```", "[shop/cart.py:1-2] `x`"])(
    "stays as it is: %j",
    (text) => {
      expect(of(text)).toBe(text.replace("[shop/cart.py:1-2]", "[1](cite:0)"));
    },
  );
});

describe("the short name of a path", () => {
  it.each([
    ["shop/pricing.py", ["shop/pricing.py", "web/cart.ts"], "pricing.py"],
    ["a/b/index.ts", ["a/b/index.ts", "a/c/index.ts"], "b/index.ts"],
    ["index.ts", ["a/index.ts"], "index.ts"],
    ["a/index.ts", ["index.ts", "a/index.ts"], "a/index.ts"],
  ])("of %s among %j is %s", (path, paths, short) => {
    expect(shortName(path, paths)).toBe(short);
  });
});
