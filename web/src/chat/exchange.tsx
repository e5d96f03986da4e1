import { ReloadOutlined } from "@ant-design/icons";
import { Alert, Button } from "antd";
import { memo, type ReactNode, Suspense } from "react";
import { type Text, useText } from "../i18n";
import { Said } from "../i18n/said";
import { AgentSteps } from "./agent-steps";
import { AnswerEnd, AnswerText } from "./answer-parts";
import { Worded } from "../parts";
import { type Answer, type Failure, isOver } from "./answer";
import type { Cited } from "./cited";
import { QuestionBubble } from "./question-bubble";
import { type Exchange, type Running, useExchange } from "./running";
import { Sources } from "./sources";
import "./answer.css";
import "./verdict.css";

export interface ExchangeViewProps {
  /** Kept by the server, or being read: what becomes the other in the end stays as it is shown, folds and all. */
  readonly exchange: Exchange | Running;
  /** Asks again what has failed; only of the latest. */
  readonly onAgain?: () => void;
  /** Asks a question once more; none while something is being answered, and for readers. */
  readonly onRepeat?: () => void;
  readonly onEdit?: () => void;
  readonly cited?: Cited;
}

/** A question and its answer, as far as there is one. */
export const ExchangeView = memo(function ExchangeView(props: ExchangeViewProps) {
  const { exchange: given, onAgain, onRepeat, onEdit, cited } = props;
  const t = useText();
  const exchange = useExchange(given);
  const { question, answer } = exchange;
  return (
    <article className="exchange" aria-busy={!isOver(answer)}>
      <QuestionBubble text={question.text} onAgain={onRepeat} onEdit={onEdit} />
      <div className="answer">
        <h2 className="visually-hidden">{t("chat.answered")}</h2>
        <div className="answer-main">
          <AgentSteps steps={answer.steps} isRunning={!isOver(answer) && !answer.text} />
          <Failed answer={answer} onAgain={onAgain} />
          {answer.text && (
            <Suspense fallback={<div className="answer-text answer-text-plain">{answer.text}</div>}>
              <AnswerText text={answer.text} sources={answer.sources} citations={answer.citations} />
            </Suspense>
          )}
          <Doing exchange={exchange} />
          {answer.phase === "stopped" && (
            <p className="stopped">{t(answer.text ? "chat.is-stopped" : "chat.is-stopped.empty")}</p>
          )}
          {isOver(answer) && (
            <Suspense fallback={null}>
              <AnswerEnd exchange={exchange} cited={cited} />
            </Suspense>
          )}
        </div>
        <Sources answer={answer} />
      </div>
    </article>
  );
});

/** What the server is doing now. */
function Doing({ exchange }: { readonly exchange: Exchange }) {
  const t = useText();
  const { answer, isRetrying, isStopping, question } = exchange;
  if (isOver(answer)) return null;
  const doing = () => {
    if (isStopping) return t("chat.stopping");
    if (isRetrying) return t("chat.retrying");
    if (answer.silent) return t("chat.silent", { model: answer.silent.model, n: answer.silent.seconds });
    if (answer.text) return t("chat.writing");
    if (question.isThorough && answer.doing) return <Said text={answer.doing} />;
    if (question.isAgent) return t("chat.looking");
    if (answer.phase === "writing") return t("chat.thinking", { n: answer.sources.length });
    return t("chat.searching");
  };
  return (
    <p className="doing">
      <span className="doing-dots" aria-hidden>
        <span />
        <span />
        <span />
      </span>
      {doing()}
    </p>
  );
}

/** Why an answer is not whole, and what to do about it: before its text, which may go on with excerpts for long. */
function Failed({ answer, onAgain }: { readonly answer: Answer; readonly onAgain?: () => void }) {
  const t = useText();
  const { failure, text } = answer;
  if (!failure) return null;
  const [title, detail, hint] = told(failure, text, t);
  return (
    <Alert
      type="error"
      showIcon
      className="failure"
      title={title}
      description={
        <>
          {detail && <p>{typeof detail === "string" ? <Said text={detail} /> : detail}</p>}
          {hint && <p className="soft">{typeof hint === "string" ? <Said text={hint} /> : hint}</p>}
          {onAgain && isOver(answer) && (
            <Button size="small" icon={<ReloadOutlined />} onClick={onAgain}>
              {t("chat.again")}
            </Button>
          )}
        </>
      }
    />
  );
}

/** Returns what to say of a failure: what it means, why, and what to do. */
function told({ code, detail, hint }: Failure, text: string, t: Text): readonly [string, ReactNode, ReactNode] {
  const title = t(text ? "chat.failed" : "chat.failed.empty");
  if (code === "offline") return [title, t("shell.offline"), <Worded key="hint" text="shell.offline.hint" />];
  if (code === "not_found" && !text) return [t("chat.failed.gone"), t("chat.failed.gone.hint"), ""];
  return [title, detail, hint];
}
