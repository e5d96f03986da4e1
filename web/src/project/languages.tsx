import { useTexts } from "../i18n";
import { useFormat } from "../i18n/format";
import { sharesOf } from "../projects/amounts";
import { projectText } from "./text";

const MOST = 7;

/** The languages of a project by files. */
export function Languages({ counts }: { readonly counts: Readonly<Record<string, number>> }) {
  const t = useTexts(projectText);
  const format = useFormat();
  return (
    <section className="panel" aria-labelledby="project-languages">
      <h2 id="project-languages">{t("languages")}</h2>
      <ul className="project-shares">
        {sharesOf(counts, MOST).map(({ name, count, percent }, place) => (
          <li key={name}>
            <span>{name || t("languages.other")}</span>
            <span className="soft">
              {format.number(count)} · {format.percent(percent / 100)}
            </span>
            <i style={{ width: `${percent}%`, background: `var(--chart-${name ? place + 1 : 8})` }} aria-hidden />
          </li>
        ))}
      </ul>
    </section>
  );
}
