import { BarChartOutlined, CheckOutlined, CopyOutlined } from "@ant-design/icons";
import { Button, Tag, Tooltip } from "antd";
import { type MouseEvent, useId, useMemo, useState } from "react";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Said, useKind } from "../i18n/said";
import { linesOf, usePlaces, writtenPlace } from "../viewer/place";
import type { Hit } from "./asked";
import { wordsOf } from "./marks";
import { Snippet } from "./snippet";
import { Why } from "./why";

interface HitProps {
  readonly hit: Hit;
  readonly question: string;
  readonly isWeak: boolean;
  /** The name of the project, where places of several are listed. */
  readonly project: string;
}

/** One place: where it is, the lines to look at, and why it stands here. */
export function HitCard({ hit, question, isWeak, project }: HitProps) {
  const t = useText();
  const { place: shown, open } = usePlaces();
  const [isAsked, setAsked] = useState(false);
  const id = useId();
  const words = useMemo(() => wordsOf(question, hit.reason_parts), [question, hit.reason_parts]);
  const isOpen = shown?.path === hit.path && shown.projectId === hit.project_id && shown.startLine === hit.start_line;
  const openAt = (line: number) => {
    if (window.getSelection()?.isCollapsed === false) return; // text is being selected, not opened
    const isInside = line >= hit.start_line && line <= hit.end_line;
    open({ ...placeOf(hit), ...(isInside ? {} : { startLine: line, endLine: line }) });
  };
  const states = ["hit", isWeak && "is-weak", isOpen && "is-open"].filter(Boolean).join(" ");
  return (
    <li className={states} data-hit>
      <div className="hit-head">
        <HitLink hit={hit} />
        <Marks hit={hit} project={project} isWeak={isWeak} />
      </div>
      <Snippet hit={hit} words={words} onOpen={openAt} />
      <div className="hit-foot">
        <span className="hit-reason">
          <Said text={hit.reason} notes={hit.reason_parts} />
        </span>
        <Copy text={writtenPlace(placeOf(hit))} />
        <Button
          size="small"
          type="text"
          data-why
          icon={<BarChartOutlined />}
          aria-expanded={isAsked}
          aria-controls={id}
          onClick={() => setAsked(!isAsked)}
        >
          {t("search.why")}
        </Button>
      </div>
      {isAsked && <Why hit={hit} id={id} />}
    </li>
  );
}

/** The place as a link; arrow keys go from one to the next. */
function HitLink({ hit }: { readonly hit: Hit }) {
  const t = useText();
  const { open, addressOf } = usePlaces();
  const place = placeOf(hit);
  const cut = hit.path.lastIndexOf("/") + 1;
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    open(place);
  };
  return (
    <a
      className="hit-link"
      data-hit-link
      href={addressOf(place)}
      title={t("viewer.place", { path: hit.path, lines: linesOf(place) })}
      onClick={onClick}
    >
      <span className="hit-folder">{hit.path.slice(0, cut)}</span>
      <span className="hit-file">{hit.path.slice(cut)}</span>
      <span className="hit-lines">:{linesOf(place)}</span>
    </a>
  );
}

function Marks({ hit, project, isWeak }: Omit<HitProps, "question">) {
  const t = useText();
  const kindOf = useKind();
  const format = useFormat();
  // With one kind of evidence the score is its measure, such as BM25, and the share of the best stands beside it.
  const measured = hit.signals.bm25 !== undefined || hit.signals.cosine !== undefined;
  const share = measured ? (hit.signals.lexical ?? hit.signals.vector ?? hit.score) : hit.score;
  const score = t("search.score", { percent: format.percent(share) });
  return (
    <span className="hit-marks">
      {hit.place && (
        <span className="hit-place soft">
          <Said text={hit.place} notes={hit.place_parts} />
        </span>
      )}
      {hit.name && (
        <span className="hit-name">
          <span className="soft">{kindOf(hit.kind)}</span> <code>{hit.name}</code>
        </span>
      )}
      {isWeak && <Tag color="warning">{t("search.weak.mark")}</Tag>}
      {project && <Tag className="hit-project">{project}</Tag>}
      <span className="hit-language soft">{hit.language}</span>
      <Tooltip title={score}>
        <span className="hit-score" role="img" aria-label={score}>
          <span style={{ width: `${Math.round(Math.max(0, Math.min(1, share)) * 100)}%` }} />
        </span>
      </Tooltip>
    </span>
  );
}

function Copy({ text }: { readonly text: string }) {
  const t = useText();
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    });
  const label = t(isCopied ? "search.copied" : "search.copy");
  return (
    <Tooltip title={label}>
      <Button
        size="small"
        type="text"
        className="hit-copy"
        aria-label={label}
        icon={isCopied ? <CheckOutlined /> : <CopyOutlined />}
        onClick={copy}
      />
    </Tooltip>
  );
}

function placeOf(hit: Hit) {
  return { projectId: hit.project_id, path: hit.path, startLine: hit.start_line, endLine: hit.end_line };
}
