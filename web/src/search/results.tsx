import { memo, type RefObject } from "react";
import type { Load } from "../api/client";
import { Loading, Trouble } from "../parts";
import type { Asked, Found } from "./asked";
import { NothingFound, Start } from "./empty";
import { FacetList } from "./facet-list";
import { Hits } from "./hits";
import { Notices } from "./notices";
import { Summary } from "./summary";
import { useView } from "./view";

interface ResultsProps {
  readonly isAsked: boolean;
  readonly found: Load<Found | null>;
  readonly names: ReadonlyMap<string, string>;
  readonly list: RefObject<HTMLOListElement | null>;
  readonly onAsk: Asked["ask"];
  readonly onChoose: Asked["choose"];
  readonly onLeave: () => void;
  readonly onMore?: () => void;
}

/** Drawn again only when something in it changes: not at every letter that is typed. */
export const Results = memo(function Results({ isAsked, found, names, list, ...props }: ResultsProps) {
  const { onAsk, onChoose, onLeave, onMore } = props;
  const [view, onView] = useView();
  if (!isAsked) return <Start names={names} onAsk={onAsk} />;
  if (found.problem) {
    // The same question that cannot be understood will not be understood the next time.
    const canRetry = found.problem.status <= 0 || found.problem.status >= 500;
    return <Trouble problem={found.problem} onRetry={canRetry ? found.reload : undefined} />;
  }
  if (!found.value) return <Loading />;
  const { answer } = found.value;
  if (answer.hits.length === 0) {
    return (
      <>
        <Summary found={found.value} isLoading={found.loading} view={view} onView={onView} />
        <Notices answer={answer} names={names} onUpdated={found.reload} />
        <NothingFound answer={answer} query={found.value.query} onAsk={onAsk} />
      </>
    );
  }
  return (
    <div className="results">
      <FacetList found={found.value} names={names} onChoose={onChoose} />
      <div className="results-list">
        <Summary found={found.value} isLoading={found.loading} view={view} onView={onView} />
        <Notices answer={answer} names={names} onUpdated={found.reload} />
        <Hits
          found={found.value}
          names={names}
          isOld={found.loading}
          view={view}
          list={list}
          onLeave={onLeave}
          onMore={onMore}
        />
      </div>
    </div>
  );
});
