import { ArrowDownOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { type ReactNode, useMemo } from "react";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { answerOf } from "./answer";
import { useCited } from "./cited";
import type { Conversation } from "./conversation-menu";
import { ExchangeView } from "./exchange";
import { conversationOf, type Exchange, type Question, Running, useExchange } from "./running";
import { useScrolling } from "./scrolling";

export interface ThreadProps {
  readonly conversation: Conversation | undefined;
  /** What is read now, or was since the conversation was loaded. */
  readonly running: readonly Running[];
  /** None for readers, who can ask nothing here. */
  readonly onAgain?: (question: Question) => void;
  readonly onEdit?: (text: string) => void;
  /** What stands where nothing was asked yet. */
  readonly children: ReactNode;
  readonly foot: ReactNode;
}

/** The questions and answers of a conversation, and below them where the next question is written. */
export function Thread({ conversation, running, onAgain, onEdit, children, foot }: ThreadProps) {
  const t = useText();
  const kept = useMemo(() => exchangesOf(conversation), [conversation]);
  const cited = useCited(conversation);
  const isAnswering = running.some((one) => !one.isOver);
  const n = kept.length + running.length;
  const { outer, inner, isAtEnd, toEnd } = useScrolling(n);
  const latest = running.at(-1);
  return (
    <div className="thread">
      <div className="thread-scroll" ref={outer}>
        <div className="thread-content" ref={inner}>
          {n === 0 && children}
          {[...kept, ...running].map((one, index) => {
            const { askedAt, answer, question } = currentOf(one);
            const again = onAgain && (() => onAgain(againOf(one)));
            return (
              <ExchangeView
                key={answer.id || askedAt}
                exchange={one}
                onAgain={index === n - 1 ? again : undefined}
                onRepeat={isAnswering ? undefined : again}
                onEdit={isAnswering ? undefined : onEdit && (() => onEdit(question.text))}
                cited={cited.get(answer.id)}
              />
            );
          })}
        </div>
      </div>
      <div className="thread-foot">
        {n > 0 && !isAtEnd && (
          <Button
            className="thread-latest"
            shape="circle"
            icon={<ArrowDownOutlined />}
            aria-label={t("chat.latest")}
            title={t("chat.latest")}
            onClick={toEnd}
          />
        )}
        {foot}
      </div>
      <p className="visually-hidden" role="status">
        {latest && <Spoken running={latest} />}
      </p>
    </div>
  );
}

/** What is said to who does not see the page: not every word as it comes. */
function Spoken({ running }: { readonly running: Running }) {
  const t = useText();
  const { phase, failure } = useExchange(running).answer;
  if (phase === "done") return t("chat.is-done");
  if (phase === "stopped") return t("chat.is-stopped");
  if (phase === "failed") return `${t("chat.is-failed")} ${failure?.detail ?? ""}`;
  return t(phase === "searching" ? "chat.searching" : "chat.writing");
}

function currentOf(one: Exchange | Running): Exchange {
  return one instanceof Running ? one.exchange() : one;
}

/** Returns a question as it is asked again: in the conversation that it has begun. */
function againOf(one: Exchange | Running): Question {
  const exchange = currentOf(one);
  return { ...exchange.question, conversationId: conversationOf(exchange) };
}

function exchangesOf(conversation: Conversation | undefined): readonly Exchange[] {
  return (conversation?.turns ?? []).map((turn) => exchangeOf(turn, conversation as Conversation));
}

function exchangeOf(turn: Schemas["TurnOut"], { id, projects }: Conversation): Exchange {
  const isAgent = turn.details.is_agent === true;
  return {
    question: { text: turn.question, projectIds: projects, conversationId: id, isAgent },
    askedAt: turn.asked_at,
    answer: answerOf(turn, id),
    isRetrying: false,
    isStopping: false,
  };
}
