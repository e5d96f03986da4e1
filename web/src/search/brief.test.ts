import { describe, expect, it } from "vitest";
import { briefOf } from "./brief";
import { elsewhereOf } from "./editors";
import { groupsOf } from "./grouped";
import { NOTHING } from "./query";
import { facetsOf, isChosen, narrowed } from "./result-facets";

const LINES = ["", "@cached", "# price is told", "def price(order):", "    total = 0", "", "    price = tax(price)"];
const matches = (line: string) => line.split("price").length - 1;

describe("the lines that tell most", () => {
  it.each([
    ["the definition, the best line, and what matches", 6, "Shop.price", LINES, [2, 3, 6]],
    ["without a name the first line", 4, "", LINES, [1, 4, 6]],
    ["a short place is whole", 0, "x", ["x = 1"], [0]],
    ["without a match the beginning", 0, "a", ["a", "", "b", "c", "d"], [0, 2, 3]],
  ])("%s", (_, best, name, lines, expected) => {
    expect(briefOf(lines, best, name, matches)).toEqual(expected);
  });
});

const hit = (path: string) => ({ project_id: "shop", path });
const HITS = [hit("src/api/cart.py"), hit("tests/test_cart.py"), hit("src/api/cart.py"), hit("src/db/a.py")];
const COUNTED = {
  is_whole: true,
  n_places: 4,
  project: [],
  language: [{ value: "python", n: 4 }],
  kind: [],
  dir: [
    { value: "src/api", n: 2 },
    { value: "src/db", n: 1 },
  ],
  is_test: [
    { value: "false", n: 3 },
    { value: "true", n: 1 },
  ],
};

describe("places", () => {
  it("stand by their files, in the order of the best ones", () => {
    expect(groupsOf(HITS).map((group) => [group.path, group.hits.length])).toEqual([
      ["src/api/cart.py", 2],
      ["tests/test_cart.py", 1],
      ["src/db/a.py", 1],
    ]);
  });

  it("are counted by the server, with the chosen folder above those in it", () => {
    const facets = facetsOf(COUNTED, { ...NOTHING, folders: ["src"] });
    expect(facets.get("folders")).toEqual([
      ["src", 4],
      ["src/api", 2],
      ["src/db", 1],
    ]);
    expect(facets.get("tests")).toEqual([
      ["none", 3],
      ["only", 1],
    ]);
    expect(facetsOf(COUNTED, NOTHING).get("folders")).toHaveLength(2);
  });

  it("are narrowed by a click, and widened by the next", () => {
    const query = { ...NOTHING, ...narrowed(NOTHING, "languages", "go") };
    expect(isChosen(query, "languages", "go")).toBe(true);
    expect(narrowed(query, "languages", "go")).toEqual({ languages: [] });
    expect(narrowed(NOTHING, "tests", "only")).toEqual({ tests: "only" });
    expect(narrowed({ ...NOTHING, tests: "only" }, "tests", "only")).toEqual({ tests: "all" });
  });
});

describe("a place elsewhere", () => {
  const local = { root: "/home/me/my shop", url: "", branch: "", revision: "" };
  const place = { path: "a b/cart.py", line: 7, endLine: 9 };

  it("opens in an editor, where the files are on this machine", () => {
    expect(elsewhereOf(local, place, "127.0.0.1").map(({ address }) => address)).toEqual([
      "vscode://file/home/me/my%20shop/a%20b/cart.py:7",
      "idea://open?file=%2Fhome%2Fme%2Fmy%20shop%2Fa%20b%2Fcart.py&line=7",
    ]);
    expect(elsewhereOf(local, place, "code.example.org")).toEqual([]);
  });

  it.each([
    ["https://github.com/x/y.git", "main", "https://github.com/x/y/blob/main/a%20b/cart.py#L7-L9"],
    ["git@gitlab.com:g/x/y.git", "v1", "https://gitlab.com/g/x/y/-/blob/v1/a%20b/cart.py#L7-9"],
    ["https://me:secret@bitbucket.org/x/y", "", "https://bitbucket.org/x/y/src/HEAD/a%20b/cart.py#lines-7:9"],
  ])("opens at the host of %s", (url, revision, address) => {
    expect(elsewhereOf({ ...local, url, revision }, place, "localhost")).toEqual([
      expect.objectContaining({ address }),
    ]);
  });

  it.each(["javascript:alert(1)", "http://github.com/x/y", "https://example.org/x/y", "/srv/github.com"])(
    "is not offered for %s",
    (url) => expect(elsewhereOf({ ...local, url }, place, "localhost")).toEqual([]),
  );
});
