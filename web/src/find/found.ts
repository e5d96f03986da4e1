import { useEffect, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { get, type Load, post, type Schemas, useLoad } from "../api/client";
import { useTexts } from "../i18n";
import { useKind } from "../i18n/said";
import { namesOf } from "../project-names";
import { usePlaces } from "../viewer/place";
import { type Group, type Item, MOST_IN_GROUP, questionForFiles } from "./matching";
import { findText } from "./text";

const PAUSE_MS = 150;
const MOST_QUESTIONS = 50;

interface Answer {
  readonly text: string;
  readonly files: Schemas["SearchOut"]["hits"];
  readonly symbols: Schemas["FederatedSymbolsOut"]["symbols"];
}
type Projects = ReadonlyMap<string, string>;

/** What the server has that does not depend on what is typed: projects and conversations that the caller may see. */
export function useKnown(): { readonly names: Projects; readonly groups: readonly Group[] } {
  const t = useTexts(findText);
  const navigate = useNavigate();
  const projects = useLoad((signal) => get<Schemas["ProjectsOut"]>("/projects", undefined, signal), []);
  const asked = useLoad(
    (signal) => get<Schemas["ConversationsOut"]>("/conversations", { limit: MOST_QUESTIONS }, signal),
    [],
  );
  return useMemo(() => {
    const listed = projects.value?.projects ?? [];
    const names = namesOf(listed);
    const ofProjects = listed.map((project) => ({
      key: `project ${project.id}`,
      label: names.get(project.id) ?? project.id,
      more: project.url || project.root,
      open: () => void navigate(`/project/${encodeURIComponent(project.id)}`),
    }));
    const questions = (asked.value?.conversations ?? []).map((one) => ({
      key: `question ${one.id}`,
      label: one.title || t("untitled"),
      open: () => void navigate(`/chat/${encodeURIComponent(one.id)}`),
    }));
    return {
      names,
      groups: [
        { name: "projects", items: ofProjects },
        { name: "questions", items: questions },
      ],
    };
  }, [projects.value, asked.value, t, navigate]);
}

/** Files and symbols whose names have what is typed. What was asked for before is aborted. */
export function useNamed(text: string, names: Projects): Pick<Load<readonly Group[]>, "value" | "problem" | "loading"> {
  const { open } = usePlaces();
  const kindOf = useKind();
  const wanted = useSettled(text.trim());
  const { value, problem, loading } = useLoad((signal) => asked(wanted, signal), [wanted]);
  const groups = useMemo(() => {
    // What was found for another text is not what Enter is meant to open.
    const { files, symbols } = value?.text === text.trim() ? value : NOTHING;
    const inProject = (id: string, path: string) => (names.size > 1 ? `${names.get(id) ?? id}: ${path}` : path);
    const ofFiles = files.map(({ project_id: projectId, path }): Item => ({
      key: `file ${projectId} ${path}`,
      label: path.slice(path.lastIndexOf("/") + 1),
      more: inProject(projectId, path),
      open: () => open({ projectId, path }),
    }));
    const ofSymbols = symbols.map((symbol): Item => {
      const { project_id: projectId, path, start_line: startLine, end_line: endLine } = symbol;
      return {
        key: `symbol ${projectId} ${path} ${startLine} ${symbol.qualified_name}`,
        label: symbol.qualified_name || symbol.name,
        more: `${kindOf(symbol.kind)} · ${inProject(projectId, path)}:${startLine}`,
        open: () => open({ projectId, path, startLine, endLine }),
      };
    });
    return [
      { name: "files", items: ofFiles },
      { name: "symbols", items: ofSymbols },
    ] satisfies readonly Group[];
  }, [value, text, names, open, kindOf]);
  return { value: groups, problem, loading: loading || wanted !== text.trim() };
}

const NOTHING: Answer = { text: "", files: [], symbols: [] };

async function asked(text: string, signal: AbortSignal): Promise<Answer> {
  const question = questionForFiles(text);
  if (!question) return { ...NOTHING, text };
  const body = { query: question, level: "file", limit: MOST_IN_GROUP };
  const [files, symbols] = await Promise.all([
    post<Schemas["SearchOut"]>("/search", body, signal),
    get<Schemas["FederatedSymbolsOut"]>("/federated/symbols", { query: text, limit: MOST_IN_GROUP }, signal),
  ]);
  return { text, files: files.hits, symbols: symbols.symbols };
}

/** Returns a text once nothing has been typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
