import { Select } from "antd";
import { useState } from "react";
import { Link } from "react-router";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { useKind } from "../i18n/said";
import { Breakdown } from "./breakdown";
import { added } from "./figures";

export interface IndexesProps {
  readonly projects: readonly Schemas["ProjectStatsOut"][];
  readonly stores: readonly Schemas["StoreOut"][] | undefined;
}

/** What the indexes hold: of each project, and of what it consists. */
export function Indexes({ projects, stores }: IndexesProps) {
  const t = useText();
  const kindOf = useKind();
  const [chosen, setChosen] = useState("");
  if (projects.length === 0) {
    return (
      <section className="panel block">
        <h2>{t("monitoring.indexes")}</h2>
        <p className="quiet">
          {t("monitoring.indexes.none")} <Link to="/projects">{t("monitoring.indexes.add")}</Link>
        </p>
      </section>
    );
  }
  const shown = projects.filter((project) => project.project_id === chosen);
  const counted = shown.length ? shown : projects;
  return (
    <section className="panel block">
      <div className="block-head">
        <h2>{t("monitoring.indexes")}</h2>
        {projects.length > 1 && (
          <Select
            value={shown.length ? chosen : ""}
            onChange={setChosen}
            aria-label={t("monitoring.project")}
            popupMatchSelectWidth={false}
            options={[
              { value: "", label: t("monitoring.all-projects") },
              ...projects.map(({ project_id }) => ({ value: project_id, label: project_id })),
            ]}
          />
        )}
      </div>
      <div className="three">
        <Breakdown title={t("monitoring.languages")} counts={added(counted.map((item) => item.languages))} />
        <Breakdown title={t("monitoring.kinds")} counts={added(counted.map((item) => item.kinds))} nameOf={kindOf} />
        <Breakdown
          title={t("monitoring.modules")}
          counts={added(counted.map((item) => item.modules))}
          unnamed={t("monitoring.modules.top")}
        />
      </div>
      <ProjectTable projects={counted} stores={stores} />
    </section>
  );
}

function ProjectTable({ projects, stores }: IndexesProps) {
  const t = useText();
  const { number, bytes, ago, date } = useFormat();
  const numbers = [t("monitoring.files"), t("monitoring.chunks"), t("monitoring.symbols"), t("monitoring.size")];
  return (
    <div className="table" tabIndex={0} role="region" aria-label={t("monitoring.indexes")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("monitoring.project")}</th>
            {numbers.map((name) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
            <th scope="col">{t("monitoring.indexed")}</th>
            <th scope="col">{t("monitoring.state")}</th>
          </tr>
        </thead>
        <tbody>
          {projects.map((project) => {
            const store = stores?.find((item) => item.project_id === project.project_id);
            return (
              <tr key={project.project_id}>
                <th scope="row">{project.project_id}</th>
                <td className="number">{number(project.n_documents)}</td>
                <td className="number">{number(project.n_chunks)}</td>
                <td className="number">{number(project.n_symbols)}</td>
                <td className="number">{store ? bytes(store.n_bytes) : "…"}</td>
                {project.indexed_at ? (
                  <td title={date(project.indexed_at)}>{ago(project.indexed_at)}</td>
                ) : (
                  <td>{t("monitoring.incomplete")}</td>
                )}
                <td>
                  <State store={store} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** What is not as it should be with an index, or that all is. */
function State({ store }: { readonly store: Schemas["StoreOut"] | undefined }) {
  const t = useText();
  if (!store) return <span className="soft">{t("monitoring.state.reading")}</span>;
  if (store.problem) return <span className="state state-bad">{store.problem}</span>;
  const wrong = [
    store.n_failures > 0 && t("monitoring.state.failures", { n: store.n_failures }),
    store.n_without_vector > 0 && t("monitoring.state.vectors", { n: store.n_without_vector }),
    !store.views_current && t("monitoring.state.views"),
    store.store_problem && t("monitoring.state.away"),
    store.pending > 0 && t("monitoring.state.pending", { n: store.pending }),
  ].filter((text): text is string => Boolean(text));
  return (
    <span className="states">
      {wrong.length === 0 && <span className="state state-ok">{t("monitoring.state.current")}</span>}
      {wrong.map((text) => (
        <span key={text} className="state state-warn">
          {text}
        </span>
      ))}
      {store.n_skipped > 0 && <span className="soft">{t("monitoring.state.skipped", { n: store.n_skipped })}</span>}
    </span>
  );
}
