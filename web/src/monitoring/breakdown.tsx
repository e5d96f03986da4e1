import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { shares } from "./figures";

const MOST = 7;

export interface BreakdownProps {
  readonly title: string;
  readonly counts: Readonly<Record<string, number>>;
  /** What stands for a name that is empty. */
  readonly unnamed?: string;
  readonly nameOf?: (name: string) => string;
}

/** The largest parts of a whole, each with a bar. */
export function Breakdown({ title, counts, unnamed = "–", nameOf = String }: BreakdownProps) {
  const t = useText();
  const { number, percent } = useFormat();
  const { shown, nOthers } = shares(counts, MOST);
  const largest = shown[0]?.share ?? 1;
  return (
    <section className="breakdown">
      <h3>{title}</h3>
      <ol>
        {shown.map((item, index) => (
          <li key={item.name}>
            <span className="breakdown-name">{item.name ? nameOf(item.name) : unnamed}</span>
            <span className="breakdown-count">{number(item.count)}</span>
            <span className="breakdown-share">{item.share < 0.005 ? "<1%" : percent(item.share)}</span>
            <i
              aria-hidden
              style={{
                width: `${Math.max((100 * item.share) / largest, 1)}%`,
                background: `var(--chart-${(index % 8) + 1})`,
              }}
            />
          </li>
        ))}
      </ol>
      {nOthers > 0 && <p className="soft">{t("monitoring.others", { n: nOthers })}</p>}
    </section>
  );
}
