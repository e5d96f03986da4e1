import { type Key, useText } from "../i18n";
import { en } from "../i18n/en";
import { useFormat } from "../i18n/format";
import { useWords } from "../i18n/said";
import type { Found } from "./asked";
import { type View, VIEWS } from "./view";

interface SummaryProps {
  readonly found: Found;
  readonly isLoading: boolean;
  readonly view: View;
  readonly onView: (view: View) => void;
}

/** How much was found, how fast, and how sure that is. */
export function Summary({ found, isLoading, view, onView }: SummaryProps) {
  const t = useText();
  const format = useFormat();
  const words = useWords();
  const { answer, milliseconds } = found;
  // How a question was read is worth saying where that is not the usual way, and was not chosen.
  const route = answer.plan.why && `search.route.${answer.plan.route}`;
  const text = answer.hits.length
    ? t("search.found", { n: answer.hits.length, time: format.milliseconds(Math.round(milliseconds)) })
    : t("search.nothing");
  const left = answer.hits.length > 0 && answer.n_left_out > 0;
  const more = t(answer.n_left_out_is_exact ? "search.left" : "search.left.least", { n: answer.n_left_out });
  return (
    <div className="summary">
      <span>
        <span role="status">{isLoading ? t("search.searching") : left ? `${text} · ${more}` : text}</span>
        {route in en && (
          <span className="summary-route" title={words(answer.plan.why_parts, answer.plan.why)}>
            {t(route as Key)}
          </span>
        )}
      </span>
      {answer.hits.length > 0 && (
        <span className="summary-confidence">
          <span className="meter" aria-hidden>
            <span
              style={{ width: `${Math.round(answer.confidence * 100)}%` }}
              className={answer.weak ? "is-weak" : ""}
            />
          </span>
          {t("search.confidence", { percent: format.percent(answer.confidence) })}
        </span>
      )}
      <fieldset className="switch views">
        <legend className="visually-hidden">{t("search.view")}</legend>
        {VIEWS.map((choice) => (
          <label key={choice}>
            <input type="radio" name="search-view" checked={view === choice} onChange={() => onView(choice)} />
            <span>{t(`search.view.${choice}`)}</span>
          </label>
        ))}
      </fieldset>
    </div>
  );
}
