import type { Step, StepPlace } from "./answer";

/** What a tool has answered to a call. */
export interface Observation {
  readonly text: string;
  readonly isError: boolean;
  readonly places: readonly StepPlace[];
  readonly milliseconds: number;
}

export type Told =
  | { readonly kind: "thought"; readonly text: string }
  | { readonly kind: "call"; readonly tool: string; readonly given: string; readonly observed?: Observation }
  | { readonly kind: "end"; readonly rounds: number; readonly stoppedBy: string };

/** Joins each call of a tool with what the tool has answered, in the order of the calls. */
export function toldOf(steps: readonly Step[]): Told[] {
  const told: Told[] = [];
  for (const step of steps) {
    if (step.type === "thinking") {
      if (step.text?.trim()) told.push({ kind: "thought", text: step.text.trim() });
    } else if (step.type === "tool_call") {
      told.push({ kind: "call", tool: step.tool ?? "", given: givenOf(step.arguments ?? "") });
    } else if (step.type === "final_answer") {
      told.push({ kind: "end", rounds: step.rounds ?? 0, stoppedBy: step.stopped_by ?? "" });
    } else {
      observe(told, step);
    }
  }
  return told;
}

function observe(told: Told[], step: Step): void {
  const tool = step.tool ?? "";
  const observed = {
    text: step.text ?? "",
    isError: step.type === "error",
    places: step.places ?? [],
    milliseconds: step.milliseconds ?? 0,
  };
  const index = told.findIndex((one) => one.kind === "call" && one.tool === tool && !one.observed);
  const call = told[index];
  if (call?.kind === "call") told[index] = { ...call, observed };
  else told.push({ kind: "call", tool, given: "", observed });
}

/** Returns the arguments of a call in a line: their values when they are JSON, else as they were written. */
export function givenOf(written: string): string {
  try {
    const values: unknown = JSON.parse(written);
    if (typeof values === "object" && values !== null)
      return Object.values(values).map(shown).filter(Boolean).join(", ");
    return shown(values);
  } catch {
    return written;
  }
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join(", ");
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
