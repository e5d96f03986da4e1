import { expect, it } from "vitest";
import { countsOf, folderBefore } from "./facets";

it("choices are counted over all projects, the most frequent first", () => {
  expect(
    countsOf([
      { go: 2, python: 5 },
      { go: 4, css: 5 },
    ]),
  ).toEqual([
    ["go", 6],
    ["css", 5],
    ["python", 5],
  ]);
  expect(countsOf([])).toEqual([]);
});

it.each([
  ["", ""],
  ["sr", ""],
  ["src/", "src"],
  ["src/shop/ca", "src/shop"],
  ["/src/", "src"],
])("while %j is typed, folders in %j are offered", (text, folder) => {
  expect(folderBefore(text)).toBe(folder);
});
