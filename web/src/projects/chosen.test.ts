import { describe, expect, it } from "vitest";
import { changedBy, needsIndex, type Setting, shownOf, triedOf } from "./chosen";

const MODEL: Setting = {
  key: "llm.model",
  value: "ollama:of-the-file",
  default: "",
  origin: "/home/me/fathom.toml",
  help: "",
  choices: [],
  kind: "text",
  changeable: true,
  closed: "",
  hosts: [],
};
const IGNORE: Setting = { ...MODEL, key: "source.ignore", value: ["a", "b"], default: [], origin: "default" };

describe("a setting", () => {
  it("is that of the files where nothing is set for the project", () => {
    expect(shownOf(MODEL, {}, {})).toEqual({ value: "ollama:of-the-file", origin: "/home/me/fathom.toml" });
    expect(shownOf(IGNORE, {}, {})).toEqual({ value: ["a", "b"], origin: "default" });
  });

  it("is what was set for the project, until it is changed or taken back", () => {
    const kept = { "llm.model": "openai:mine" };
    expect(shownOf(MODEL, kept, {})).toEqual({ value: "openai:mine", origin: "here" });
    expect(shownOf(MODEL, kept, { "llm.model": "" })).toEqual({ value: "", origin: "draft" });
    expect(shownOf(MODEL, kept, { "llm.model": null })).toEqual({ value: "", origin: "default" });
  });
});

describe("a change", () => {
  it("keeps what is not changed, and takes back what is to be taken back", () => {
    const kept = { "llm.model": "openai:mine", "search.limit": 20 };
    expect(changedBy(kept, { "llm.model": null, "source.ignore": ["x"] })).toEqual({
      "search.limit": 20,
      "source.ignore": ["x"],
    });
    expect(kept).toHaveProperty("llm.model");
  });

  it("can be tried before it is kept", () => {
    const draft = { "llm.model": null, "source.ignore": ["x"] };
    expect(triedOf(draft, [MODEL, IGNORE])).toEqual({ "llm.model": "", "source.ignore": ["x"] });
  });

  it("of what is indexed needs the index to be made again", () => {
    expect(needsIndex({ "llm.model": "x" })).toBe(false);
    expect(needsIndex({ "llm.model": "x", "embed.model": null })).toBe(true);
    expect(needsIndex({})).toBe(false);
  });
});
