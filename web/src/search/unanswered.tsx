import { CloseOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useState } from "react";
import { Link } from "react-router";
import type { Schemas } from "../api/client";
import { useLanguage, useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { useProblemTitle } from "../i18n/said";

type Searched = Schemas["SearchedOut"];

/** Errors of a question that a project has read: it was searched, and has no answer. */
const OF_QUESTION = new Set(["usage", "bad_request", "source", "invalid"]);
/** What was closed stays closed until the page is left, or something else is wrong. */
const closed = new Set<string>();

interface UnansweredProps {
  readonly projects: readonly Searched[];
  /** How far those are that are being indexed. */
  readonly indexing: Schemas["SearchOut"]["indexing"];
  readonly names: ReadonlyMap<string, string>;
}

/** One quiet line about the projects that gave no results, and why. */
export function Unanswered({ projects, indexing, names }: UnansweredProps) {
  const t = useText();
  const { language } = useLanguage();
  const titleOf = useProblemTitle();
  const [, setRound] = useState(0);
  const format = useFormat();
  const runs = new Map((indexing ?? []).map((run) => [run.project_id, run]));
  const parts = projects.map(({ project_id, problem }) => {
    const run = runs.get(project_id);
    if (run) {
      const project = names.get(project_id) ?? project_id;
      if (!run.n_files) return t("search.indexing.begins", { project });
      const share = format.percent(Math.floor((100 * run.n_done) / run.n_files) / 100);
      return t("search.indexing", { project, share });
    }
    const why = language === "en" ? (problem?.detail ?? "") : titleOf(problem?.code ?? "");
    const values = { project: names.get(project_id) ?? project_id, why };
    const isSearched = OF_QUESTION.has(problem?.code ?? "");
    return t(isSearched ? "search.without-answer" : "search.unsearched", values);
  });
  const line = parts.join(" · ");
  if (parts.length === 0 || closed.has(line)) return null;
  const close = () => {
    closed.add(line);
    setRound((round) => round + 1);
  };
  return (
    <div className="unanswered soft small" role="note" title={line}>
      <span>{line}</span>
      <Link to="/projects">{t("search.to-projects")}</Link>
      <Button size="small" type="text" icon={<CloseOutlined />} aria-label={t("search.close")} onClick={close} />
    </div>
  );
}
