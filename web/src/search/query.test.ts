import { describe, expect, it } from "vitest";
import { components } from "../../openapi.json";
import { addressOf, bodyOf, hasFilters, LEVELS, MODES, NOTHING, type Query, queryOf, withoutFilters } from "./query";

const FULL: Query = {
  text: "where are orders priced?",
  projects: ["shop", "crm & co"],
  languages: ["python"],
  kinds: ["function", "method"],
  folders: ["src/a,b", "docs"],
  mode: "lexical",
  level: "file",
  tests: "none",
  after: "2026-11-01",
};

it.each([
  ["level", LEVELS],
  ["mode", MODES],
] as const)("every %s of the server can be chosen", (name, choices) => {
  const { anyOf } = components.schemas.SearchIn.properties[name];
  expect([...choices].sort()).toEqual(anyOf.flatMap((one) => ("enum" in one ? one.enum : [])).sort());
});

describe("the address of a query", () => {
  it.each([FULL, NOTHING, { ...NOTHING, text: "a=b&c%20+ü" }, { ...NOTHING, folders: ["日本"] }])(
    "is read back",
    (query) => {
      expect(queryOf(new URLSearchParams(addressOf(query).toString()))).toEqual(query);
    },
  );

  it("is empty where nothing is asked", () => {
    expect(addressOf(NOTHING).toString()).toBe("");
    expect(addressOf({ ...NOTHING, text: "  " }).toString()).toBe("");
  });

  it("keeps what is not of the search", () => {
    const before = new URLSearchParams("file=a.py&lines=1-2&project=shop&q=old&lang=go&mode=regex");
    const address = addressOf({ ...NOTHING, text: "new" }, before);
    expect(Object.fromEntries(address)).toEqual({ file: "a.py", lines: "1-2", project: "shop", q: "new" });
    expect(before.get("q")).toBe("old");
  });

  it("with nonsense in it is the nearest that can be asked", () => {
    const query = queryOf(new URLSearchParams("mode=magic&level=&lang=&lang=go&lang=go"));
    expect(query).toEqual({ ...NOTHING, languages: ["go"] });
  });
});

describe("what the server is asked", () => {
  it("holds each filter that is set, and no other", () => {
    expect(bodyOf({ ...NOTHING, text: " cart " }, 20)).toEqual({
      query: "cart",
      limit: 20,
      explain: true,
      facets: true,
      mode: "auto",
      level: "chunk",
    });
    expect(bodyOf(FULL, 20)).toEqual({
      query: FULL.text,
      limit: 20,
      explain: true,
      facets: true,
      mode: "lexical",
      level: "file",
      project_ids: FULL.projects,
      language_filter: ["python"],
      kind_filter: ["function", "method"],
      directory_filter: ["src/a,b", "docs"],
      filter: "not is_test",
      changed_after: "2026-11-01",
    });
  });

  it("is nothing without words", () => {
    expect(bodyOf({ ...FULL, text: " \t" }, 20)).toBeNull();
  });
});

it("filters can be taken away, and what is asked stays", () => {
  expect(hasFilters(FULL)).toBe(true);
  expect(withoutFilters(FULL)).toEqual({ ...NOTHING, text: FULL.text, mode: "lexical", level: "file" });
  expect(hasFilters(withoutFilters(FULL))).toBe(false);
});
