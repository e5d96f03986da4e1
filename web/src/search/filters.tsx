import { FilterOutlined } from "@ant-design/icons";
import { Badge, Button, Select } from "antd";
import { memo, type ReactNode, useState } from "react";
import { get, type Schemas } from "../api/client";
import { type Key, useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { useKind } from "../i18n/said";
import { namesOf } from "../project-names";
import { countsOf, type Counts, folderBefore } from "./facets";
import { type Filters as Chosen, hasFilters, LEVELS, MODES, type Query, withoutFilters } from "./query";

type Project = Schemas["ProjectOut"];

/** What is chosen as one text, which is cut where it is too long: "+ 2" would not tell what. */
const SHORT = {
  maxTagCount: 0,
  maxTagPlaceholder: (chosen: readonly { readonly label?: ReactNode; readonly value?: unknown }[]) => (
    <span className="filter-chosen">{chosen.map((one) => String(one.label ?? one.value)).join(", ")}</span>
  ),
};

interface FiltersProps {
  readonly query: Query;
  readonly projects: readonly Project[];
  readonly onChoose: (filters: Partial<Chosen>) => void;
}

/** To what a search is kept. On narrow screens behind a button. */
export const Filters = memo(function Filters({ query, projects, onChoose }: FiltersProps) {
  const t = useText();
  const kindOf = useKind();
  const [isOpen, setOpen] = useState(false);
  const chosen = projects.filter((project) => !query.projects.length || query.projects.includes(project.id));
  const n_set = [query.projects, query.languages, query.kinds, query.folders].flat().length;
  const clear = () => {
    const { projects, languages, kinds, folders } = withoutFilters(query);
    onChoose({ projects, languages, kinds, folders });
  };
  return (
    <div className="filters">
      <Badge count={n_set} className="filters-button" offset={[-4, 2]}>
        <Button icon={<FilterOutlined />} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t("search.filters")}
        </Button>
      </Badge>
      <div className={isOpen ? "filters-row is-open" : "filters-row"} role="group" aria-label={t("search.filters")}>
        {(projects.length > 1 || query.projects.length > 0) && (
          <ProjectFilter
            projects={projects}
            value={query.projects}
            onChoose={(value) => onChoose({ projects: value })}
          />
        )}
        <Several
          name="search.language"
          counts={countsOf(chosen.map((project) => project.languages))}
          value={query.languages}
          onChoose={(languages) => onChoose({ languages })}
        />
        <Several
          name="search.kind"
          labelOf={kindOf}
          counts={countsOf(chosen.map((project) => project.kinds))}
          value={query.kinds}
          onChoose={(kinds) => onChoose({ kinds })}
        />
        <FolderFilter projects={chosen} value={query.folders} onChoose={(folders) => onChoose({ folders })} />
        <One name="search.level" choices={LEVELS} value={query.level} onChoose={(level) => onChoose({ level })} />
        <One name="search.mode" choices={MODES} value={query.mode} onChoose={(mode) => onChoose({ mode })} />
        {hasFilters(query) && (
          <Button type="text" className="filters-clear" onClick={clear}>
            {t("search.filters.clear")}
          </Button>
        )}
      </div>
    </div>
  );
});

interface SeveralProps {
  readonly name: Key;
  readonly counts: Counts;
  readonly value: readonly string[];
  readonly onChoose: (value: string[]) => void;
  /** How a value is called on the page; as it is where nothing else is said. */
  readonly labelOf?: (value: string) => string;
}

function Several({ name, counts, value, onChoose, labelOf = String }: SeveralProps) {
  const t = useText();
  const format = useFormat();
  return (
    <Select
      mode="multiple"
      className="filter"
      aria-label={t(name)}
      placeholder={t(name)}
      {...SHORT}
      popupMatchSelectWidth={false}
      allowClear
      value={[...value]}
      onChange={(chosen: string[]) => onChoose(chosen)}
      options={counts.map(([value, count]) => ({ value, label: labelOf(value), count }))}
      optionRender={(option) => (
        <span className="filter-option">
          <span>{option.data.label}</span>
          <span className="soft">{format.number(option.data.count)}</span>
        </span>
      )}
    />
  );
}

interface OfProjectsProps {
  readonly projects: readonly Project[];
  readonly value: readonly string[];
  readonly onChoose: (value: string[]) => void;
}

function ProjectFilter({ projects, value, onChoose }: OfProjectsProps) {
  const t = useText();
  return (
    <Select
      mode="multiple"
      className="filter"
      aria-label={t("search.project")}
      placeholder={t("search.project")}
      {...SHORT}
      popupMatchSelectWidth={false}
      allowClear
      value={[...value]}
      onChange={(chosen: string[]) => onChoose(chosen)}
      options={[...namesOf(projects)].map(([value, label]) => ({ value, label }))}
    />
  );
}

/** Offers the folders of the projects, one step at a time: what lies in `src` when `src/` is typed. */
function FolderFilter({ projects, value, onChoose }: OfProjectsProps) {
  const t = useText();
  const [folders, setFolders] = useState<readonly string[]>([]);
  const look = (text: string) => {
    const inside = folderBefore(text);
    void foldersIn(projects, inside).then((found) =>
      setFolders((before) => [...new Set([...before.filter((path) => !found.includes(path)), ...found])].sort()),
    );
  };
  return (
    <Select
      mode="tags"
      className="filter"
      aria-label={t("search.folder")}
      placeholder={t("search.folder")}
      title={t("search.folder.hint")}
      {...SHORT}
      popupMatchSelectWidth={false}
      allowClear
      tokenSeparators={[","]}
      value={[...value]}
      onOpenChange={(isOpen) => isOpen && look("")}
      showSearch={{ onSearch: look }}
      onChange={(chosen: string[]) =>
        onChoose(chosen.map((path) => path.trim().replace(/^\/+|\/+$/g, "")).filter(Boolean))
      }
      options={folders.map((path) => ({ value: path, label: path }))}
    />
  );
}

const MOST_PROJECTS = 6;

async function foldersIn(projects: readonly Project[], folder: string): Promise<string[]> {
  const indexed = projects.filter((project) => project.generation > 0).slice(0, MOST_PROJECTS);
  const trees = await Promise.all(
    indexed.map((project) =>
      get<Schemas["TreeOut"]>("/file-tree", { project_id: project.id, folder }).catch(() => null),
    ),
  );
  return trees.flatMap((tree) => (tree?.entries ?? []).filter((entry) => entry.is_folder).map((entry) => entry.path));
}

interface OneProps<T extends string> {
  readonly name: "search.mode" | "search.level";
  readonly choices: readonly T[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
}

function One<T extends string>({ name, choices, value, onChoose }: OneProps<T>) {
  const t = useText();
  return (
    <Select<T>
      className="filter filter-one"
      aria-label={t(name)}
      popupMatchSelectWidth={false}
      value={value}
      onChange={onChoose}
      options={choices.map((choice) => ({ value: choice, label: t(`${name}.${choice}` as Key) }))}
    />
  );
}
