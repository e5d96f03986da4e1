import { memo, useEffect, useId, useState } from "react";
import { type Key, useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { useKind } from "../i18n/said";
import type { Found } from "./asked";
import type { Counts } from "./facets";
import type { Filters } from "./query";
import { type Facet, FACETS, facetsOf, isChosen, narrowed } from "./result-facets";

const NAMES: Readonly<Record<Facet, Key>> = {
  projects: "search.project",
  languages: "search.language",
  kinds: "search.kind",
  folders: "search.folder",
  tests: "search.tests",
};

interface FacetListProps {
  readonly found: Found;
  readonly names: ReadonlyMap<string, string>;
  readonly onChoose: (filters: Partial<Filters>) => void;
}

/** What the places have in common, with counts; a click keeps the search to it, another one takes that back. */
export const FacetList = memo(function FacetList({ found, names, onChoose }: FacetListProps) {
  const t = useText();
  const { answer, query } = found;
  const isWide = useIsWide();
  const [isOpen, setOpen] = useState(false);
  if (!answer.facets) return null;
  const { is_whole, n_places } = answer.facets;
  const facets = facetsOf(answer.facets, query);
  return (
    <aside className="facets" aria-label={t("search.facets")}>
      <details open={isWide || isOpen} onToggle={(event) => !isWide && setOpen(event.currentTarget.open)}>
        <summary>{t("search.facets")}</summary>
        <p className="facets-of soft">{t(is_whole ? "search.facets.all" : "search.facets.part", { n: n_places })}</p>
        {FACETS.map((facet) => (
          <Values
            key={facet}
            facet={facet}
            counts={facets.get(facet) ?? []}
            names={names}
            isChosen={(value) => isChosen(query, facet, value)}
            onChoose={(value) => onChoose(narrowed(query, facet, value))}
          />
        ))}
      </details>
    </aside>
  );
});

const LEAST_WIDTH = 1_064; // of the page, as in search.css: a column beside the places

/** Whether there is room beside the places, which the viewer may take. */
function useIsWide(): boolean {
  const [isWide, setWide] = useState(() => (document.getElementById("content")?.clientWidth ?? 0) >= LEAST_WIDTH);
  useEffect(() => {
    const page = document.getElementById("content");
    const observer = new ResizeObserver(() => setWide((page?.clientWidth ?? 0) >= LEAST_WIDTH));
    if (page) observer.observe(page);
    return () => observer.disconnect();
  }, []);
  return isWide;
}

interface ValuesProps {
  readonly facet: Facet;
  readonly counts: Counts;
  readonly names: ReadonlyMap<string, string>;
  readonly isChosen: (value: string) => boolean;
  readonly onChoose: (value: string) => void;
}

function Values({ facet, counts, names, isChosen, onChoose }: ValuesProps) {
  const t = useText();
  const format = useFormat();
  const kindOf = useKind();
  const id = useId();
  const labels: Partial<Record<Facet, (value: string) => string>> = {
    projects: (value) => names.get(value) ?? value,
    kinds: kindOf,
    tests: (value) => t(`search.tests.${value}` as Key),
  };
  // One value for all narrows nothing, unless it is the one that was chosen.
  if (counts.length < 2 && !counts.some(([value]) => isChosen(value))) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{t(NAMES[facet])}</h2>
      <ul>
        {counts.map(([value, n]) => (
          <li key={value}>
            <button type="button" data-facet={facet} aria-pressed={isChosen(value)} onClick={() => onChoose(value)}>
              <span title={value}>{(labels[facet] ?? String)(value)}</span>
              <span className="soft">{format.number(n)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
