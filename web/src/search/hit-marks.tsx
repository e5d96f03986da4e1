import { Tag } from "antd";
import { useText } from "../i18n";
import { useFormat } from "../i18n/format";
import { Said, useKind } from "../i18n/said";
import type { Hit } from "./asked";

interface MarksProps {
  readonly hit: Hit;
  readonly isWeak: boolean;
  readonly project: string;
}

/** What a place is, and how well it fits. */
export function HitMarks({ hit, project, isWeak }: MarksProps) {
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
        <span className="hit-name" title={hit.name}>
          <span className="soft">{kindOf(hit.kind)}</span> <code>{hit.name}</code>
        </span>
      )}
      {hit.is_test && <span className="hit-test soft">{t("search.tests.mark")}</span>}
      {isWeak && <Tag color="warning">{t("search.weak.mark")}</Tag>}
      {project && <Tag className="hit-project">{project}</Tag>}
      <span className="hit-language soft">{hit.language}</span>
      <span className="hit-score" role="img" aria-label={score} title={score}>
        <span style={{ width: `${Math.round(Math.max(0, Math.min(1, share)) * 100)}%` }} />
      </span>
    </span>
  );
}
