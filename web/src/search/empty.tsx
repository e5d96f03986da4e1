import { FileSearchOutlined, FolderAddOutlined, SearchOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { Link } from "react-router";
import { type Key, useText } from "../i18n";
import { useWords } from "../i18n/said";
import { Message } from "../parts";
import type { Answer } from "./asked";
import { hasFilters, NOTHING, type Query, withoutFilters } from "./query";

const EXAMPLES: readonly (readonly [text: string, meaning: Key])[] = [
  ["@@Session", "search.try.symbol"],
  ["@src/ retry", "search.try.path"],
  ["lang:python timeout", "search.try.field"],
  ["login -dir:tests", "search.try.not"],
  ['"not found"', "search.try.phrase"],
];
const KEYS: readonly (readonly [keys: readonly string[], meaning: Key])[] = [
  [["/"], "search.key.type"],
  [["↑", "↓"], "search.key.move"],
  [["Enter"], "search.key.open"],
  [["w"], "search.key.why"],
  [["Esc"], "search.key.close"],
];

const MOST_NAMED = 12; // projects; the page of the projects has all

interface StartProps {
  readonly names: ReadonlyMap<string, string>;
  readonly onAsk: (query: Query) => void;
}

/** Before anything is asked: what can be. */
export function Start({ names, onAsk }: StartProps) {
  const t = useText();
  return (
    <section className="start">
      <h2>{t("search.start")}</h2>
      <p className="soft">{t("search.start.hint")}</p>
      <p className="start-projects">
        <span className="soft">{t("search.overview")}</span>
        {[...names].slice(0, MOST_NAMED).map(([id, name]) => (
          <Link key={id} to={`/project/${encodeURIComponent(id)}`}>
            {name}
          </Link>
        ))}
      </p>
      <h3>{t("search.try")}</h3>
      <ul className="start-examples">
        {EXAMPLES.map(([text, meaning]) => (
          <li key={text}>
            <button type="button" onClick={() => onAsk({ ...NOTHING, text })}>
              <code>{text}</code>
              <span className="soft">{t(meaning)}</span>
            </button>
          </li>
        ))}
      </ul>
      <ul className="start-keys">
        {KEYS.map(([keys, meaning]) => (
          <li key={meaning}>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
            <span className="soft">{t(meaning)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface NothingFoundProps {
  readonly answer: Answer;
  readonly query: Query;
  readonly onAsk: (query: Query) => void;
}

/** Nothing was found: says what to try. */
export function NothingFound({ answer, query, onAsk }: NothingFoundProps) {
  const t = useText();
  const words = useWords();
  const isKept = hasFilters(query);
  return (
    <Message
      icon={<FileSearchOutlined />}
      title={t("search.nothing")}
      detail={words(answer.suggestion_parts, answer.suggestion) || undefined}
      hint={t(isKept ? "search.nothing.filters" : "search.nothing.hint")}
    >
      {isKept && <Button onClick={() => onAsk(withoutFilters(query))}>{t("search.filters.clear")}</Button>}
    </Message>
  );
}

/** There is nothing to search in yet. */
export function NoProject({ isAdded }: { readonly isAdded: boolean }) {
  const t = useText();
  return (
    <Message
      icon={isAdded ? <SearchOutlined /> : <FolderAddOutlined />}
      title={t(isAdded ? "search.no-index" : "search.no-project")}
      hint={t(isAdded ? "search.no-index.hint" : "search.no-project.hint")}
    >
      <Link to={isAdded ? "/projects" : "/projects?add"} className="ant-btn ant-btn-primary ant-btn-variant-solid">
        {t(isAdded ? "search.to-projects" : "search.add-project")}
      </Link>
    </Message>
  );
}
