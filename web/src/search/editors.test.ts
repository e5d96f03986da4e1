import { describe, expect, it } from "vitest";
import { commitAt, elsewhereOf } from "./editors";

const HASH = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";

describe("commitAt", () => {
  it.each([
    ["https://github.com/ann/shop.git", `https://github.com/ann/shop/commit/${HASH}`],
    ["git@gitlab.example.org:team/shop.git", `https://gitlab.example.org/team/shop/-/commit/${HASH}`],
    ["https://token:secret@bitbucket.org/ann/shop", `https://bitbucket.org/ann/shop/commits/${HASH}`],
  ])("leads from %s to the commit", (url, address) => {
    expect(commitAt(url, HASH)?.address).toBe(address);
  });

  it.each([
    "",
    "/srv/shop",
    "http://github.com/ann/shop",
    "javascript:alert(1)//github",
    "https://code.example.org/shop",
  ])("knows none for %j", (url) => {
    expect(commitAt(url, HASH)).toBeUndefined();
  });

  it("takes nothing but a hash", () => {
    expect(commitAt("https://github.com/ann/shop", "../../evil")).toBeUndefined();
  });
});

describe("elsewhereOf", () => {
  const place = { path: "commit/1a2b3c4d5e6f", line: 1, endLine: 3, commit: HASH };
  const project = { root: "/srv/shop", url: "https://github.com/ann/shop", branch: "", revision: "" };

  it("opens a commit as a commit, and in no editor", () => {
    expect(elsewhereOf(project, place, "localhost").map(({ address }) => address)).toEqual([
      `https://github.com/ann/shop/commit/${HASH}`,
    ]);
    expect(elsewhereOf({ ...project, url: "" }, place, "localhost")).toEqual([]);
  });
});
