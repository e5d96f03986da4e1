import { useMemo } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { useKind } from "../i18n/said";
import { Trouble } from "../parts";
import { nested, symbolAt } from "./symbols";

export interface OutlineProps {
  readonly projectId: string;
  readonly path: string;
  readonly line: number | undefined;
  readonly onLines: (startLine: number, endLine: number) => void;
}

/** The definitions of a file, inner ones below those that hold them. */
export function Outline({ projectId, path, line, onLines }: OutlineProps) {
  const t = useText();
  const kindOf = useKind();
  const found = useLoad(
    (signal) => get<Schemas["SymbolsOut"]>("/symbols", { project_id: projectId, path, limit: 10_000 }, signal),
    [projectId, path],
  );
  const items = useMemo(() => nested(found.value?.symbols ?? []), [found.value]);
  if (found.problem) return <Trouble problem={found.problem} onRetry={found.reload} />;
  if (found.value && items.length === 0) return <p className="viewer-note">{t("viewer.no-symbols")}</p>;
  const here = symbolAt(items, line);
  return (
    <ul className="outline">
      {items.map((item) => (
        <li key={`${item.symbol.name_line} ${item.symbol.qualified_name}`}>
          <button
            type="button"
            className="tree-entry"
            style={{ paddingLeft: 8 + 14 * item.depth }}
            aria-current={item === here || undefined}
            title={item.symbol.signature || item.symbol.qualified_name}
            onClick={() => onLines(item.symbol.start_line, item.symbol.end_line)}
          >
            <i className="kind" data-kind={item.symbol.kind} aria-hidden>
              {item.symbol.kind.slice(0, 1)}
            </i>
            <span>{item.symbol.name}</span>
            <span className="visually-hidden">{kindOf(item.symbol.kind)}</span>
            {item.symbol.by_head && <em className="by-head">{t("viewer.by-head")}</em>}
            <small aria-hidden>{item.symbol.start_line}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}
