import { lazy, Suspense, useCallback, useEffect, useMemo, useRef } from "react";
import { useLocation } from "react-router";
import { get, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Loading, Trouble } from "../parts";
import { namesOf } from "../project-names";
import { useTitle } from "../title";
import { type Asked, useAsked, useFound } from "./asked";
import { Box, useSlash } from "./box";
import { NoProject } from "./empty";
import { focusFirst, openFirst } from "./hits";
import { ListedProjects } from "./listed-projects";
import { useKeptPlace, useLimit } from "./kept-place";
import { addressOf } from "./query";
import { Results } from "./results";
import "./search.css";

// A list can be asked for and read before it is narrowed: the choices come after the first picture, into their room.
const Filters = lazy(() => import("./filters"));

type Project = Schemas["ProjectOut"];

export default function SearchPage() {
  const t = useText();
  const projects = useLoad((signal) => get<Schemas["ProjectsOut"]>("/projects", undefined, signal), []);
  const listed = projects.value?.projects;
  return (
    <div className="page search-page">
      <Title />
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

/** The window is called by what is asked: then its tab can be told from others. */
function Title() {
  const t = useText();
  const asked = new URLSearchParams(useLocation().search).get("q") ?? "";
  useTitle(asked.trim().split("\n")[0]?.slice(0, 80) ?? "", t("search.title"));
  return null;
}

function Searching({ projects }: { readonly projects: readonly Project[] }) {
  const asked = useAsked();
  const { query } = asked;
  const asks = addressOf(query).toString();
  const { limit, widen } = useLimit(asks);
  const found = useFound(query, limit);
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const names = useMemo(() => namesOf(projects), [projects]);
  const byId = useMemo(() => new Map(projects.map((project) => [project.id, project])), [projects]);
  const toField = useCallback(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  useSlash(toField);
  useEffect(() => {
    if (window.matchMedia("(pointer: fine)").matches && !query.text) field.current?.focus();
  }, []);
  const hasMore = found.value?.answer.next_offset != null && widen !== undefined;
  useKeptPlace(found.value != null);
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
    <ListedProjects value={byId}>
      <div className="search-top">
        <Box
          text={asked.text}
          loading={found.loading}
          field={field}
          onType={type}
          onEnter={enter}
          onDown={() => focusFirst(list)}
        />
        <Suspense fallback={<div className="filters" aria-hidden />}>
          <Filters query={query} projects={projects} onChoose={asked.choose} />
        </Suspense>
      </div>
      <Results
        isAsked={query.text.trim() !== ""}
        found={found}
        names={names}
        list={list}
        onAsk={asked.ask}
        onChoose={asked.choose}
        onLeave={toField}
        onMore={hasMore ? widen : undefined}
      />
    </ListedProjects>
  );
}
