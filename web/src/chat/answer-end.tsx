import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import type { Cited } from "./cited";
import { CopyButton } from "./copy-button";
import { RatingButtons } from "./rating";
import type { Exchange } from "./running";
import { Verdict } from "./verdict";

interface AnswerEndProps {
  readonly exchange: Exchange;
  readonly cited?: Cited;
}

/** What stands below an answer that is over: how far it can be trusted, who has written it, its rating. */
export default function AnswerEnd({ exchange, cited }: AnswerEndProps) {
  return (
    <>
      <Verdict answer={exchange.answer} cited={cited} />
      <Footer exchange={exchange} />
    </>
  );
}

/** Who has written an answer, when, and what may be done with it. */
function Footer({ exchange: { answer, askedAt } }: { readonly exchange: Exchange }) {
  const t = useText();
  const format = useFormat();
  if (!answer.text) return null;
  return (
    <footer className="answer-footer">
      <CopyButton text={answer.text} label={t("chat.copy.answer")} />
      <span>{format.date(askedAt)}</span>
      {answer.model && <span className="mono">{answer.model.split("@")[0]}</span>}
      {answer.tokens > 0 && <span>{t("chat.tokens", { n: answer.tokens })}</span>}
      {answer.cost !== undefined && <span>{t("chat.cost", { cost: format.number(answer.cost, 4) })}</span>}
      {Object.entries(answer.commits).map(([project, commit], _, all) => (
        <span key={project} className="mono" title={commit}>
          {t("chat.commit", { commit: `${all.length > 1 ? `${project} ` : ""}${commit.slice(0, 8)}` })}
        </span>
      ))}
      {answer.id && answer.conversationId && <RatingButtons answer={answer} />}
    </footer>
  );
}
