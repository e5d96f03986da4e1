import { CheckOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useId, useState } from "react";
import { useText } from "../i18n";
import { Said } from "../i18n/said";
import { CitationLink } from "../viewer/citation-link";
import type { Answer, Source } from "./answer";

const FEW = 6;

/** What an answer rests on; what it cites is marked. */
export function Sources({ answer }: { readonly answer: Answer }) {
  const t = useText();
  const id = useId();
  const [isWhole, setWhole] = useState(false);
  const { sources } = answer;
  if (!sources.length) return null;
  const shown = isWhole ? sources : sources.slice(0, FEW);
  return (
    <section className="sources" aria-labelledby={id}>
      <h3 id={id}>
        {t("chat.sources")} <span className="soft">{sources.length}</span>
      </h3>
      <ol>
        {shown.map((source) => (
          <li key={`${source.number} ${source.id}`}>
            <SourceLink source={source} isCited={isCited(source, answer)} />
          </li>
        ))}
      </ol>
      {sources.length > FEW && (
        <Button type="link" size="small" onClick={() => setWhole(!isWhole)} aria-expanded={isWhole}>
          {isWhole ? t("chat.sources.fewer") : t("chat.sources.all", { n: sources.length })}
        </Button>
      )}
    </section>
  );
}

function isCited(source: Source, { citations }: Answer): boolean {
  return (citations ?? []).some(
    (one) => one.path === source.path && one.start_line <= source.end_line && source.start_line <= one.end_line,
  );
}

function SourceLink({ source, isCited }: { readonly source: Source; readonly isCited: boolean }) {
  const t = useText();
  const cut = source.path.lastIndexOf("/") + 1;
  return (
    <CitationLink
      projectId={source.project_id}
      path={source.file}
      startLine={source.start_line}
      endLine={source.end_line}
    >
      <span className={isCited ? "source-number cited" : "source-number"}>{source.number}</span>
      <span className="source-place">
        <span className="source-file">
          {source.path.slice(cut)}
          <span className="source-lines">
            :{source.start_line}-{source.end_line}
          </span>
          {source.place && (
            <span className="source-lines">
              {" "}
              <Said text={source.place} notes={source.place_parts} />
            </span>
          )}
          {isCited && <CheckOutlined aria-label={t("chat.source.cited")} />}
        </span>
        <span className="source-folder">{source.symbol || source.path.slice(0, cut)}</span>
      </span>
    </CitationLink>
  );
}
