import { describe, expect, it } from "vitest";
import type { Step } from "./answer";
import { givenOf, toldOf } from "./steps";

const result = (tool: string, text: string, type: Step["type"] = "tool_result"): Step => ({
  type,
  tool,
  text,
  places: [],
  milliseconds: 2,
});
const call = (tool: string, given: string): Step => ({ type: "tool_call", tool, arguments: `{"path": "${given}"}` });

describe("the steps of an agent", () => {
  it("are thoughts, calls with what they found, and the end", () => {
    const told = toldOf([
      { type: "thinking", text: " I look. " },
      call("read_file", "a.py"),
      result("read_file", "1: x"),
      { type: "final_answer", rounds: 2, stopped_by: "" },
    ]);
    expect(told).toEqual([
      { kind: "thought", text: "I look." },
      {
        kind: "call",
        tool: "read_file",
        given: "a.py",
        observed: { text: "1: x", isError: false, places: [], milliseconds: 2 },
      },
      { kind: "end", rounds: 2, stoppedBy: "" },
    ]);
  });

  it("join calls of one round with their own results", () => {
    const told = toldOf([
      call("read_file", "a"),
      call("search", "q"),
      call("read_file", "b"),
      result("read_file", "of a"),
      result("search", "of q", "error"),
      result("read_file", "of b"),
    ]);
    const found = told.map((one) =>
      one.kind === "call" ? [one.given, one.observed?.text, one.observed?.isError] : one,
    );
    expect(found).toEqual([
      ["a", "of a", false],
      ["q", "of q", true],
      ["b", "of b", false],
    ]);
  });

  it("show a call before it is answered, a result without its call, and no empty thought", () => {
    expect(toldOf([{ type: "thinking", text: " " }, call("search", "q")])).toEqual([
      { kind: "call", tool: "search", given: "q" },
    ]);
    expect(toldOf([result("search", "x")])).toMatchObject([{ kind: "call", tool: "search", given: "" }]);
  });
});

describe("the arguments of a call", () => {
  it.each([
    ['{"path": "a.py", "start": 3, "all": true}', "a.py, 3, true"],
    ['{"paths": ["a", "b"], "none": ""}', "a, b"],
    ["{}", ""],
    ['"text"', "text"],
    ["{not json", "{not json"],
    ["", ""],
  ])("%s are shown as %s", (written, given) => {
    expect(givenOf(written)).toBe(given);
  });
});
