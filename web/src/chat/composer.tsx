import { ArrowUpOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { type KeyboardEvent, lazy, type RefObject, Suspense, useEffect } from "react";
import { useText } from "../i18n";
import type { ChoicesProps } from "./choices";
import { loadAnswerParts } from "./answer-parts";
import { ExpectedCost } from "./expected-cost";
import { type Running, useExchange } from "./running";

// A question can be written before it is said what it is asked of: the choices come after the first picture.
const Choices = lazy(() => import("./choices"));

const MOST_CHARACTERS = 10_000;
const MOST_ROWS = 10;

export interface ComposerProps extends ChoicesProps {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly conversationId: string;
  /** What is being answered now, and can be stopped. */
  readonly running: Running | undefined;
  readonly onSend: (text: string) => void;
}

/** Where a question is written, and said what it is asked of. */
export function Composer(props: ComposerProps) {
  const { field, text, onText, asking, conversationId, running, onSend, ...others } = props;
  const t = useText();
  useEffect(() => {
    field.current?.focus();
    // Until a question is written, there is time for what will show its answer.
    void loadAnswerParts();
  }, [field]);
  const send = () => {
    if (text.trim() && !running) onSend(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter ends a word that is being composed, too.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="composer">
      <textarea
        ref={field}
        rows={Math.min(text.split("\n").length, MOST_ROWS)}
        value={text}
        maxLength={MOST_CHARACTERS}
        aria-label={t("chat.question")}
        placeholder={t("chat.question.placeholder")}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="composer-foot">
        <Suspense fallback={<div className="composer-choices-room" />}>
          <Choices asking={asking} {...others} />
        </Suspense>
        {asking.isThorough ? (
          <ExpectedCost text={text} projectIds={asking.projectIds} conversationId={conversationId} />
        ) : (
          <span className="composer-keys">{t("chat.keys")}</span>
        )}
        {running ? <Stop running={running} /> : <Send isPossible={Boolean(text.trim())} onSend={send} />}
      </div>
    </div>
  );
}

function Send({ isPossible, onSend }: { readonly isPossible: boolean; readonly onSend: () => void }) {
  const t = useText();
  return (
    <Button
      type="primary"
      shape="circle"
      icon={<ArrowUpOutlined />}
      aria-label={t("chat.send")}
      disabled={!isPossible}
      onClick={onSend}
    />
  );
}

function Stop({ running }: { readonly running: Running }) {
  const t = useText();
  const { isStopping } = useExchange(running);
  return (
    <Button
      shape="circle"
      icon={<span className="composer-stop" aria-hidden />}
      aria-label={t("chat.stop")}
      title={t("chat.stop")}
      disabled={isStopping}
      onClick={() => void running.stop()}
    />
  );
}
