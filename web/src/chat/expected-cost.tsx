import { useEffect, useState } from "react";
import { post, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";

interface ExpectedCostProps {
  readonly text: string;
  readonly projectIds: readonly string[];
  readonly conversationId: string;
}

const PAUSE_MS = 700;

/** What a thorough answer to the words in the box would take, once nothing has been typed for a moment. */
export function ExpectedCost({ text, projectIds, conversationId }: ExpectedCostProps) {
  const t = useText();
  const format = useFormat();
  const wanted =
    text.trim() && JSON.stringify({ query: text.trim(), project_ids: projectIds, conversation_id: conversationId });
  const settled = useSettled(wanted);
  const looked = useLoad(
    async (signal) => {
      if (!settled) return undefined;
      const body = { ...(JSON.parse(settled) as object), thorough: true, dry_run: true };
      const { expected } = await post<Schemas["AnswerOut"]>("/ask", body, signal);
      return { of: settled, expected };
    },
    [settled],
  );
  const expected = wanted && looked.value?.of === wanted ? looked.value.expected : undefined;
  const parts = expected
    ? [
        t("chat.expected.calls", { n: expected.n_calls }),
        t("chat.tokens", { n: expected.n_tokens }),
        ...(expected.cost == null ? [] : [t("chat.cost", { cost: format.number(expected.cost, 4) })]),
      ]
    : [];
  return (
    <span className="composer-cost" role="status">
      {parts.length > 0 && t("chat.expected", { cost: parts.join(" · ") })}
    </span>
  );
}

/** Returns a value that has not changed for a moment; an empty one at once. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), value ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
