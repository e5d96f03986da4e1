import { get, type Schemas, useLoad } from "../api/client";
import { en, type Key } from "../i18n/en";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Loading } from "../parts";
import type { Hit } from "./asked";
import { type Bar, barsOf, type Explained } from "./signals";

let explained: Promise<readonly Explained[]> | undefined;

/** What the signals mean and how much they count: the same for all hits, so it is asked once. */
function loadExplained(): Promise<readonly Explained[]> {
  explained ??= get<Schemas["SignalsOut"]>("/signals").then(
    (found) => found.signals,
    (error: unknown) => {
      explained = undefined;
      throw error;
    },
  );
  return explained;
}

/** Every signal of a hit as a bar: to the right what speaks for it, to the left what speaks against it. */
export function Why({ hit, id }: { readonly hit: Hit; readonly id: string }) {
  const t = useText();
  const { value, problem } = useLoad(() => loadExplained(), []);
  const bars = barsOf(hit.signals, value ?? []);
  const isWeighed = bars.some((bar) => bar.added !== 0);
  return (
    <section id={id} className="why" aria-label={t("search.why.of", { path: hit.path })}>
      {value || problem ? (
        <>
          <p className="soft">{t(isWeighed ? "search.why.explain" : "search.why.plain")}</p>
          <ul>
            {bars.map((bar) => (
              <Row key={bar.name} bar={bar} isWeighed={isWeighed} />
            ))}
          </ul>
        </>
      ) : (
        // Without the weights the bars would stand in another order, and move when the weights come.
        <Loading />
      )}
    </section>
  );
}

function Row({ bar, isWeighed }: { readonly bar: Bar; readonly isWeighed: boolean }) {
  const t = useText();
  const format = useFormat();
  const key = `search.signal.${bar.name}`;
  const meaning = key in en ? t(key as Key) : bar.meaning;
  const side = bar.share < 0 ? "is-against" : "is-for";
  const number = bar.name === "repeat" ? `× ${format.number(bar.value, 2)}` : signed(isWeighed ? bar.added : bar.value);
  return (
    <li className={bar.share ? undefined : "is-silent"} data-signal={bar.name}>
      <span className="why-meaning">
        {meaning} <code>{bar.name}</code>
      </span>
      <span className={`why-bar ${side}`} aria-hidden>
        <span style={{ width: `${Math.abs(bar.share) * 50}%` }} />
      </span>
      <span className="why-number">
        <span aria-hidden>{number}</span>
        <span className="visually-hidden">{spoken()}</span>
      </span>
    </li>
  );

  function signed(value: number): string {
    const text = Math.abs(value).toFixed(2);
    return value === 0 ? "0" : isWeighed ? `${value < 0 ? "−" : "+"}${text}` : text;
  }

  function spoken(): string {
    const n = format.number(Math.abs(isWeighed ? bar.added : bar.value), 2);
    if (bar.name === "repeat") return t("search.why.factor", { n: format.number(bar.value, 2) });
    if (!bar.share) return t("search.why.none");
    if (!isWeighed) return t("search.why.gave", { n });
    return t(bar.share < 0 ? "search.why.takes" : "search.why.adds", { n });
  }
}
