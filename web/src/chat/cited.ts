import { get, type Schemas, useLoad } from "../api/client";
import type { Conversation } from "./conversation-menu";

export type CitedLines = Schemas["CitedLinesOut"];

/** The cited lines of one answer, and whether their reader is told, too, that none has changed. */
export interface Cited {
  readonly lines: readonly CitedLines[];
  readonly isForReader: boolean;
}

/** Asks the server which cited lines of a conversation have changed since; by the id of the answer. */
export function useCited(conversation: Conversation | undefined): ReadonlyMap<string, Cited> {
  const isAsked = Boolean(conversation?.turns.length);
  const { value } = useLoad(
    async (signal) => {
      if (!conversation || !isAsked) return undefined;
      const path = `/conversations/${conversation.id}/cited`;
      return byAnswer(await get<Schemas["CitedStateOut"]>(path, undefined, signal), !conversation.is_own);
    },
    [conversation],
  );
  return value ?? NONE;
}

const NONE: ReadonlyMap<string, Cited> = new Map();

function byAnswer(found: Schemas["CitedStateOut"], isForReader: boolean): ReadonlyMap<string, Cited> {
  const grouped = new Map<string, CitedLines[]>();
  for (const lines of found.lines) grouped.set(lines.answer_id, [...(grouped.get(lines.answer_id) ?? []), lines]);
  return new Map([...grouped].map(([id, lines]) => [id, { lines, isForReader }]));
}
