import { describe, expect, it } from "vitest";
import { possible } from "./asking";

const PROJECTS = [{ id: "shop" }, { id: "zoo" }];

describe("how a question can be asked", () => {
  it("leaves out projects that are gone", () => {
    expect(possible({ projectIds: ["gone", "zoo"], isAgent: false }, PROJECTS, true).projectIds).toEqual(["zoo"]);
  });

  it("is of one project for an agent, the first where none is chosen", () => {
    expect(possible({ projectIds: ["zoo", "shop"], isAgent: true }, PROJECTS, true)).toEqual({
      projectIds: ["zoo"],
      isAgent: true,
    });
    expect(possible({ projectIds: [], isAgent: true }, PROJECTS, true).projectIds).toEqual(["shop"]);
  });

  it.each([
    [PROJECTS, false],
    [[], true],
  ])("is not by an agent of %j with a model: %s", (projects, hasModel) => {
    expect(possible({ projectIds: [], isAgent: true }, projects, hasModel).isAgent).toBe(false);
  });
});
