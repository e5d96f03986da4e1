import { describe, expect, it } from "vitest";
import { countsOf, matching } from "./left-out-files";

const FILES = [
  { path: "assets/Logo.png", reason: "binary" },
  { path: "vendor", reason: "vendored" },
  { path: "assets/icon.png", reason: "binary" },
  { path: "api/client_pb2.py", reason: "generated" },
];

describe("files left out", () => {
  it("are counted by reason, the most frequent first", () => {
    expect(countsOf(FILES)).toEqual([
      ["binary", 2],
      ["generated", 1],
      ["vendored", 1],
    ]);
    expect(countsOf([])).toEqual([]);
  });

  it.each([
    ["", "", 4],
    ["binary", "", 2],
    ["", "png logo", 1],
    ["binary", "  ICON ", 1],
    ["vendored", "png", 0],
  ])("of the reason %j with %j in their path are %d", (reason, text, count) => {
    expect(matching(FILES, reason, text)).toHaveLength(count);
  });
});
