import { Button } from "antd";
import { useLayoutEffect, useRef, useState } from "react";
import { useText } from "../i18n";
import { useKind } from "../i18n/said";
import { CitationLink } from "./citation-link";
import type { Pointed } from "./pointed";

const MARGIN = 8;

interface NameCardProps {
  readonly pointed: Pointed;
  readonly projectId: string;
  readonly onStay: () => void;
  readonly onLeave: () => void;
  /** Lists all uses of the definition. */
  readonly onUses: (target: string) => void;
}

/** What a name means: its signature, documentation and place, how certain that is, and who uses it. */
export function NameCard({ pointed, projectId, onStay, onLeave, onUses }: NameCardProps) {
  const t = useText();
  const kindOf = useKind();
  const { meaning } = pointed;
  const { card, style } = useBeside(pointed);
  const [first, ...others] = meaning.definitions;
  if (!first) return null;
  return (
    <div
      ref={card}
      className="name-card"
      role="group"
      aria-label={meaning.name}
      style={style}
      onMouseEnter={onStay}
      onMouseLeave={onLeave}
      onClick={(event) => event.stopPropagation()}
    >
      <code className="name-signature">{first.signature || first.qualified_name}</code>
      {first.doc && <p className="name-doc">{first.doc}</p>}
      <p className="soft">
        {kindOf(first.kind)}{" "}
        <CitationLink {...placeOf(projectId, first)}>{`${first.path}:${first.name_line}`}</CitationLink>
      </p>
      <p className="soft">
        {t(`viewer.certainty.${meaning.certainty}`)}
        {first.by_head && ` · ${t("viewer.by-head")}`}
        {meaning.n_definitions > 1 && ` · ${t("viewer.others", { n: meaning.n_definitions - 1 })}`}
      </p>
      {others.length > 0 && (
        <ul>
          {others.slice(0, 3).map((item) => (
            <li key={`${item.path} ${item.name_line}`}>
              <CitationLink {...placeOf(projectId, item)}>{`${item.path}:${item.name_line}`}</CitationLink>
            </li>
          ))}
        </ul>
      )}
      <Button size="small" onClick={() => onUses(`${first.path} @@${first.qualified_name}`)}>
        {t(meaning.n_uses_is_exact ? "viewer.uses.of" : "viewer.uses.least", { n: meaning.n_uses })}
      </Button>
      {meaning.uses.length > 0 && (
        <ul>
          {meaning.uses.slice(0, 3).map((use) => (
            <li key={`${use.path} ${use.line}`}>
              <CitationLink projectId={projectId} path={use.path} startLine={use.line} endLine={use.line}>
                {`${use.path}:${use.line}`}
              </CitationLink>{" "}
              <span className="soft">{use.symbol}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function placeOf(projectId: string, item: { path: string; start_line: number; end_line: number }) {
  return { projectId, path: item.path, startLine: item.start_line, endLine: item.end_line };
}

/** Below the name where there is room, else above it; never outside of the window. */
function useBeside({ under }: Pointed) {
  const card = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: under.left, top: under.bottom });
  useLayoutEffect(() => {
    const { width = 0, height = 0 } = card.current?.getBoundingClientRect() ?? {};
    const isBelow = under.bottom + height + MARGIN <= window.innerHeight || under.top < height;
    setPlace({
      left: Math.max(MARGIN, Math.min(under.left, window.innerWidth - width - MARGIN)),
      top: isBelow ? under.bottom : under.top - height,
    });
  }, [under]);
  return { card, style: { left: place.left, top: place.top } };
}
