import type { Schemas } from "../api/client";
import type { Note } from "../i18n/notes";
import type { ServerEvent } from "../api/events";

export type Source = Schemas["SourceOut"];
export type Citation = Schemas["CitationOut"];
export type Dropped = Schemas["DroppedOut"];
export type Rating = Schemas["RatingOut"];

/** A step of an agent, as the server tells it. */
export interface Step {
  readonly type: "thinking" | "tool_call" | "tool_result" | "error" | "final_answer";
  readonly text?: string;
  readonly tool?: string;
  /** JSON as the model wrote it. */
  readonly arguments?: string;
  readonly places?: readonly StepPlace[];
  readonly milliseconds?: number;
  readonly confidence?: string;
  readonly rounds?: number;
  readonly stopped_by?: string;
}

export interface StepPlace {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
}

export interface Failure {
  readonly code: string;
  readonly detail: string;
  readonly hint: string;
}

export interface Silent {
  readonly model: string;
  readonly seconds: number;
}

/** Where an answer is: "searching" and "writing" go on, the others are ends. */
export type Phase = "searching" | "writing" | "done" | "stopped" | "failed";

export interface Answer {
  readonly id: string;
  readonly conversationId: string;
  readonly phase: Phase;
  /** What the server is at, in its own words; "" when it has not said. */
  readonly doing: string;
  /** The model that does not answer, and for how long; known while it is silent. */
  readonly silent: Silent | undefined;
  readonly text: string;
  readonly sources: readonly Source[];
  /** Known once the answer is whole. */
  readonly citations: readonly Citation[] | undefined;
  readonly dropped: readonly Dropped[];
  readonly steps: readonly Step[];
  /** What was missing, one sentence each. */
  readonly degraded: readonly string[];
  /** The same as notes, in the same order. */
  readonly degradedParts: readonly Note[];
  readonly label: string;
  readonly model: string;
  readonly tokens: number;
  readonly cost: number | undefined;
  /** Of each project that was asked, the commit of that time. */
  readonly commits: Readonly<Record<string, string>>;
  /** What the reader thinks of it. */
  readonly rating: Rating | undefined;
  readonly stale: boolean;
  readonly failure: Failure | undefined;
  /** How many events came too late to be read again. */
  readonly lost: number;
}

export const NOTHING: Answer = {
  id: "",
  conversationId: "",
  phase: "searching",
  doing: "",
  silent: undefined,
  text: "",
  sources: [],
  citations: undefined,
  dropped: [],
  steps: [],
  degraded: [],
  degradedParts: [],
  label: "",
  model: "",
  tokens: 0,
  cost: undefined,
  commits: {},
  rating: undefined,
  stale: false,
  failure: undefined,
  lost: 0,
};

export function isOver(answer: Answer): boolean {
  return answer.phase !== "searching" && answer.phase !== "writing";
}

/** Returns an answer after one more event. */
export function after(answer: Answer, event: ServerEvent): Answer {
  const { data } = event;
  switch (event.type) {
    case "status":
      return afterStatus(answer, recordOf(data));
    case "sources":
      return { ...answer, sources: listOf<Source>(data) };
    case "content":
      return { ...answer, phase: "writing", silent: undefined, text: answer.text + String(data ?? "") };
    case "step":
      return { ...answer, steps: [...answer.steps, recordOf(data) as unknown as Step] };
    case "usage":
      return { ...answer, ...usageOf(recordOf(data)) };
    case "error":
      return { ...answer, failure: failureOf(recordOf(data)) };
    case "lost":
      return { ...answer, lost: answer.lost + Number(recordOf(data).events ?? 0) };
    case "done":
      return { ...answer, phase: endOf(answer) };
    default:
      return answer; // of a newer server
  }
}

type Fields = Readonly<Record<string, unknown>>;

function afterStatus(answer: Answer, data: Fields): Answer {
  switch (data.phase) {
    case "searching":
      return { ...answer, id: textOf(data.answer_id), conversationId: textOf(data.conversation_id) };
    case "found":
      return {
        ...answer,
        phase: "writing",
        degraded: listOf<string>(data.degraded),
        degradedParts: listOf<Note>(data.degraded_parts),
      };
    case "answered":
      return { ...answer, ...detailsOf(data) };
    case "stopped":
      return { ...answer, phase: "stopped" };
    case "waiting":
      return { ...answer, silent: silentOf(textOf(data.detail)) };
    default:
      return { ...answer, silent: undefined, doing: textOf(data.detail) };
  }
}

/** Returns who is silent, as the server says it: "ollama:qwen has not answered for 20 s". */
function silentOf(detail: string): Silent | undefined {
  const said = /^(.+) has not answered for (\d+) s$/.exec(detail);
  return said ? { model: (said[1] ?? "").split("@")[0] ?? "", seconds: Number(said[2]) } : undefined;
}

/** What the end of a stream means: the server says so when it was stopped or has failed, else the answer is whole. */
function endOf(answer: Answer): Phase {
  if (answer.phase === "stopped") return "stopped";
  return answer.failure ? "failed" : "done";
}

/** Returns what a server tells of a whole answer besides its text. */
function detailsOf(data: Fields): Partial<Answer> {
  return {
    citations: data.citations ? listOf<Citation>(data.citations) : undefined,
    dropped: listOf<Dropped>(data.dropped_citations),
    sources: listOf<Source>(data.sources),
    degraded: listOf<string>(data.degraded),
    degradedParts: listOf<Note>(data.degraded_parts),
    label: textOf(data.label),
    model: textOf(data.model),
    stale: data.stale === true,
  };
}

function usageOf(data: Fields): Pick<Answer, "tokens" | "cost"> {
  const tokens = Number(data.prompt_tokens ?? 0) + Number(data.completion_tokens ?? 0);
  return { tokens, cost: typeof data.cost === "number" ? data.cost : undefined };
}

function failureOf(data: Fields): Failure {
  return { code: textOf(data.code), detail: textOf(data.detail), hint: textOf(data.hint) };
}

/** Returns the answer that a conversation keeps. */
export function answerOf(turn: Schemas["TurnOut"], conversationId = ""): Answer {
  const details: Fields = turn.details;
  const error = textOf(details.error);
  return {
    ...NOTHING,
    ...detailsOf(details),
    ...usageOf({ ...recordOf(details.usage), cost: details.cost }),
    commits: recordOf(details.commits) as Readonly<Record<string, string>>,
    rating: turn.rating ?? undefined,
    id: textOf(details.answer_id),
    conversationId,
    text: turn.answer,
    steps: listOf<Step>(details.steps),
    phase: turn.state === "stopped" || turn.state === "failed" ? turn.state : "done",
    failure: error ? { code: "", detail: error, hint: textOf(details.hint) } : undefined,
  };
}

function recordOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function listOf<Item>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? (value as Item[]) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
