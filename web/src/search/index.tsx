import { memo, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { get, type Load, type Schemas, useLoad } from "../api/client";
import { type Key, useText } from "../i18n";
import { useWords } from "../i18n/said";
import { en } from "../i18n/en";
import { useFormat } from "../i18n/format";
import { Loading, Trouble } from "../parts";
import { namesOf } from "../project-names";
import { type Asked, type Found, useAsked, useFound } from "./asked";
import { Box, useSlash } from "./box";
import { NoProject, NothingFound, Start } from "./empty";
import { Filters } from "./filters";
import { focusFirst, Hits, openFirst } from "./hits";
import { Notices } from "./notices";
import { addressOf } from "./query";
import "./search.css";

const FIRST = 20;
const WIDER = [50, 200, 1_000];
const MOST = 1_000;
type Project = Schemas["ProjectOut"];

export default function SearchPage() {
  const t = useText();
  const projects = useLoad((signal) => get<Schemas["ProjectsOut"]>("/projects", undefined, signal), []);
  const listed = projects.value?.projects;
  return (
    <div className="page search-page">
      <h1 className="visually-hidden">{t("search.title")}</h1>
      {listed?.some((project) => project.generation > 0) ? (
        <Searching projects={listed} />
      ) : listed ? (
        <NoProject isAdded={listed.length > 0} />
      ) : projects.problem ? (
        <Trouble problem={projects.problem} onRetry={projects.reload} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

function Searching({ projects }: { readonly projects: readonly Project[] }) {
  const asked = useAsked();
  const { query } = asked;
  const asks = addressOf(query).toString();
  const [wider, setWider] = useState({ asks: "", limit: FIRST });
  const limit = wider.asks === asks ? wider.limit : FIRST;
  const found = useFound(query, limit);
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const names = useMemo(() => namesOf(projects), [projects]);
  const toField = useCallback(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  useSlash(toField);
  useEffect(() => {
    if (window.matchMedia("(pointer: fine)").matches && !query.text) field.current?.focus();
  }, []);
  const hasMore = found.value?.answer.next_offset != null && limit < MOST;
  const widen = useCallback(() => setWider({ asks, limit: WIDER.find((wide) => wide > limit) ?? MOST }), [asks, limit]);
  // Enter while something is still being searched for opens what will be the first.
  const isSettled = !found.loading && asked.text.trim() === query.text.trim();
  const isWanted = useRef(false);
  const enter = () => {
    isWanted.current = asked.flush() || !isSettled;
    if (!isWanted.current) openFirst(list);
  };
  useEffect(() => {
    if (!isSettled || !isWanted.current) return;
    isWanted.current = false;
    openFirst(list);
  }, [isSettled, asks]);
  const type: Asked["type"] = (text, options) => {
    isWanted.current = false;
    asked.type(text, options);
  };
  return (
    <>
      <div className="search-top">
        <Box
          text={asked.text}
          loading={found.loading}
          field={field}
          onType={type}
          onEnter={enter}
          onDown={() => focusFirst(list)}
        />
        <Filters query={query} projects={projects} onChoose={asked.choose} />
      </div>
      <Results
        isAsked={query.text.trim() !== ""}
        found={found}
        names={names}
        list={list}
        onAsk={asked.ask}
        onLeave={toField}
        onMore={hasMore ? widen : undefined}
      />
    </>
  );
}

interface ResultsProps {
  readonly isAsked: boolean;
  readonly found: Load<Found | null>;
  readonly names: ReadonlyMap<string, string>;
  readonly list: RefObject<HTMLOListElement | null>;
  readonly onAsk: Asked["ask"];
  readonly onLeave: () => void;
  readonly onMore?: () => void;
}

/** Drawn again only when something in it changes: not at every letter that is typed. */
const Results = memo(function Results({ isAsked, found, names, list, onAsk, onLeave, onMore }: ResultsProps) {
  if (!isAsked) return <Start onAsk={onAsk} />;
  if (found.problem) {
    // The same question that cannot be understood will not be understood the next time.
    const canRetry = found.problem.status <= 0 || found.problem.status >= 500;
    return <Trouble problem={found.problem} onRetry={canRetry ? found.reload : undefined} />;
  }
  if (!found.value) return <Loading />;
  const { answer } = found.value;
  return (
    <>
      <Summary found={found.value} isLoading={found.loading} />
      <Notices answer={answer} names={names} onUpdated={found.reload} />
      {answer.hits.length > 0 ? (
        <Hits found={found.value} names={names} isOld={found.loading} list={list} onLeave={onLeave} onMore={onMore} />
      ) : (
        <NothingFound answer={answer} query={found.value.query} onAsk={onAsk} />
      )}
    </>
  );
});

/** How much was found, how fast, and how sure that is. */
function Summary({ found, isLoading }: { readonly found: Found; readonly isLoading: boolean }) {
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
    </div>
  );
}
