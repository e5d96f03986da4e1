import { FilterOutlined } from "@ant-design/icons";
import { Badge, Button, Select } from "antd";
import { memo, useMemo, useState } from "react";
import { type Key, useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { useKind } from "../i18n/said";
import { namesOf } from "../project-names";
import { countsOf, type Counts } from "./facets";
import { type OfProjectsProps, type Project, SHORT } from "./filter-parts";
import { FolderFilter } from "./folder-filter";
import { type Filters as Chosen, hasFilters, LEVELS, MODES, type Query, TESTS, withoutFilters } from "./query";

interface FiltersProps {
  readonly query: Query;
  readonly projects: readonly Project[];
  readonly onChoose: (filters: Partial<Chosen>) => void;
}

/** To what a search is kept. On narrow screens behind a button. */
const Filters = memo(function Filters({ query, projects, onChoose }: FiltersProps) {
  const t = useText();
  const kindOf = useKind();
  const [isOpen, setOpen] = useState(false);
  const chosen = projects.filter((project) => !query.projects.length || query.projects.includes(project.id));
  const n_lists = [query.projects, query.languages, query.kinds, query.folders].flat().length;
  const n_set = n_lists + Number(query.tests !== "all") + Number(query.after !== "");
  const clear = () => {
    const { text: _, mode: _mode, level: _level, ...filters } = withoutFilters(query);
    onChoose(filters);
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
        <One name="search.tests" choices={TESTS} value={query.tests} onChoose={(tests) => onChoose({ tests })} />
        <Changed value={query.after} onChoose={(after) => onChoose({ after })} />
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

interface OneProps<T extends string> {
  readonly name: "search.mode" | "search.level" | "search.tests";
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

const DAYS = [1, 7, 30, 365];
const DAY_MS = 86_400_000;

/** Keeps to files that were changed lately; an address may name any other day. */
function Changed({ value, onChoose }: { readonly value: string; readonly onChoose: (day: string) => void }) {
  const t = useText();
  const days = useMemo(
    () => new Map(DAYS.map((n) => [new Date(Date.now() - n * DAY_MS).toISOString().slice(0, 10), n])),
    [],
  );
  const others = value && !days.has(value) ? [{ value, label: t("search.after.date", { date: value }) }] : [];
  return (
    <Select
      className="filter filter-one"
      aria-label={t("search.after")}
      popupMatchSelectWidth={false}
      value={value}
      onChange={onChoose}
      options={[
        { value: "", label: t("search.after.any") },
        ...[...days].map(([day, n]) => ({ value: day, label: t("search.after.days", { n }) })),
        ...others,
      ]}
    />
  );
}

export default Filters;
