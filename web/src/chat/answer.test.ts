import { describe, expect, it } from "vitest";
import type { ServerEvent } from "../api/events";
import { after, type Answer, answerOf, isOver, NOTHING } from "./answer";

const SOURCE = {
  id: "shop/pricing.py:1-9",
  number: 1,
  path: "shop/pricing.py",
  project_id: "shop",
  file: "shop/pricing.py",
  module: "shop",
  score: 0.9,
  start_line: 1,
  end_line: 9,
  symbol: "total_cents",
  reason: "",
};
const CITATION = { path: "shop/pricing.py", start_line: 6, end_line: 8, symbol: "total_cents" };
const DETAILS = {
  citations: [CITATION],
  verified_share: 0.5,
  dropped_citations: [{ text: "[x.py:1-2]", reason: "no source has this path" }],
  confidence: 0.8,
  label: "high",
  model: "ollama:m",
  sources: [SOURCE],
  degraded: ["1 citations could not be verified and were removed"],
  stale: true,
};
const BEGUN = ["status", { phase: "searching", answer_id: "a1", conversation_id: "c1" }] as const;
const FOUND = ["status", { phase: "found", left_out: [], degraded: ["no vectors"] }] as const;
const ANSWERED = ["status", { phase: "answered", ...DETAILS, error: "" }] as const;
const USAGE = ["usage", { prompt_tokens: 900, completion_tokens: 40, cost: 0.002, model: "ollama:m" }] as const;
const DONE = ["done", undefined] as const;

type Told = readonly [type: string, data: unknown];

function told(...events: readonly Told[]): Answer {
  return events
    .map(([type, data], index): ServerEvent => ({ id: `a1.${index + 1}`, type, data }))
    .reduce(after, NOTHING);
}

describe("an answer as it is told", () => {
  it("is searched for, then written, then whole", () => {
    const events = [
      BEGUN,
      ["sources", [SOURCE]],
      FOUND,
      ["content", "In "],
      ["content", "`a`."],
      ANSWERED,
      USAGE,
      DONE,
    ];
    const phases = events.map((_, index) => told(...(events.slice(0, index + 1) as Told[])).phase);
    expect(phases).toEqual(["searching", "searching", "writing", "writing", "writing", "writing", "writing", "done"]);
    expect(told(...(events as Told[]))).toMatchObject({
      id: "a1",
      conversationId: "c1",
      text: "In `a`.",
      sources: [SOURCE],
      citations: [CITATION],
      dropped: DETAILS.dropped_citations,
      degraded: DETAILS.degraded,
      label: "high",
      tokens: 940,
      cost: 0.002,
      stale: true,
      failure: undefined,
    });
  });

  it("keeps what was written when it fails in the middle", () => {
    const failure = { code: "provider", detail: "the model broke off", hint: "try again" };
    const answer = told(BEGUN, ["content", "So far"], ["error", failure], DONE);
    expect(answer).toMatchObject({ text: "So far", phase: "failed", failure });
  });

  it("is stopped when the server says so", () => {
    const answer = told(BEGUN, ["content", "So far"], ["status", { phase: "stopped" }], DONE);
    expect(answer).toMatchObject({ text: "So far", phase: "stopped" });
    expect(isOver(answer)).toBe(true);
  });

  it("has the steps of an agent in order", () => {
    const answer = told(
      BEGUN,
      ["step", { type: "thinking", text: "I look." }],
      ["step", { type: "tool_call", tool: "read_file", arguments: "{}" }],
      ["step", { type: "tool_result", tool: "read_file", text: "1: x", places: [], milliseconds: 1.5 }],
    );
    expect(answer.steps.map((step) => step.type)).toEqual(["thinking", "tool_call", "tool_result"]);
    expect(isOver(answer)).toBe(false);
  });

  it("counts what came too late and lets pass what it does not know", () => {
    const answer = told(BEGUN, ["lost", { events: 7 }], ["weather", { sun: true }], ["status", null]);
    expect(answer).toMatchObject({ lost: 7, phase: "searching", id: "a1" });
  });
});

describe("an answer as a conversation keeps it", () => {
  const turn = { question: "where?", answer: "Here.", state: "done", asked_at: 1, details: {} };

  it("is the same as when it was told", () => {
    const details = {
      ...DETAILS,
      answer_id: "a1",
      steps: [],
      usage: { prompt_tokens: 900, completion_tokens: 40 },
      cost: 0.002,
    };
    const live = told(BEGUN, ["sources", [SOURCE]], FOUND, ["content", "Here."], ANSWERED, USAGE, DONE);
    expect(answerOf({ ...turn, details }, "c1")).toEqual(live);
  });

  it("may be without anything, as an older server has kept it", () => {
    expect(answerOf(turn)).toEqual({ ...NOTHING, text: "Here.", phase: "done" });
  });

  it("tells why it failed and what to do", () => {
    const details = { error: "the model failed", hint: "start it", sources: [SOURCE] };
    const answer = answerOf({ ...turn, state: "failed", details });
    expect(answer.phase).toBe("failed");
    expect(answer.failure).toEqual({ code: "", detail: "the model failed", hint: "start it" });
    expect(answer.citations).toBeUndefined();
    expect(answer.sources).toEqual([SOURCE]);
  });
});

it("a model that is silent is named until it says something", () => {
  const status = (data: Record<string, unknown>) => ({ id: "", type: "status", data }) as const;
  const waiting = status({ phase: "waiting", detail: "openai:slow@http://localhost/v1 has not answered for 20 s" });
  const silent = after(NOTHING, waiting);
  expect(silent.silent).toEqual({ model: "openai:slow", seconds: 20 });
  expect(after(silent, { id: "", type: "content", data: "It" }).silent).toBeUndefined();
  expect(after(silent, status({ phase: "judge", detail: "grading 1 of 2 files" })).silent).toBeUndefined();
});
