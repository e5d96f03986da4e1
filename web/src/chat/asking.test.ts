import { describe, expect, it } from "vitest";
import { askingOf, possible } from "./asking";

const PROJECTS = [{ id: "shop" }, { id: "zoo" }];

describe("how a question can be asked", () => {
  it("leaves out projects that are gone", () => {
    expect(possible({ projectIds: ["gone", "zoo"], isAgent: false }, PROJECTS, true).projectIds).toEqual(["zoo"]);
  });

  it("is of several projects for an agent, too", () => {
    expect(possible({ projectIds: ["zoo", "shop"], isAgent: true }, PROJECTS, true)).toEqual({
      projectIds: ["zoo", "shop"],
      isAgent: true,
      isThorough: false,
    });
  });

  it.each([
    [PROJECTS, false],
    [[], true],
  ])("is not by an agent of %j with a model: %s", (projects, hasModel) => {
    expect(possible({ projectIds: [], isAgent: true }, projects, hasModel).isAgent).toBe(false);
  });
});

describe("how the next question is asked", () => {
  const last = { projectIds: ["zoo"], isAgent: true };

  it.each([
    [undefined, ["zoo"]],
    [["shop"], ["shop"]],
    [["zoo", "shop"], []],
    [["gone"], ["gone"]],
  ])("in a conversation about %j", (ids, projectIds) => {
    expect(askingOf(last, ids, PROJECTS)).toEqual({ projectIds, isAgent: true });
  });
});
