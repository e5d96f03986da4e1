import { CheckCircleFilled, ExclamationCircleFilled, ScissorOutlined } from "@ant-design/icons";
import { Tooltip } from "antd";
import type { ReactNode } from "react";
import { type Key, useText } from "../i18n";
import { useWords } from "../i18n/said";
import type { Answer } from "./answer";
import type { Cited, CitedLines } from "./cited";

const LABELS: Readonly<Record<string, { readonly text: Key; readonly tone: Tone }>> = {
  high: { text: "chat.high", tone: "ok" },
  medium: { text: "chat.medium", tone: "warn" },
  low: { text: "chat.low", tone: "bad" },
};

type Tone = "ok" | "warn" | "bad" | "plain";

/** How far an answer can be trusted: its confidence, what of it was verified, and what it lacks. */
export function Verdict({ answer, cited }: { readonly answer: Answer; readonly cited?: Cited }) {
  const t = useText();
  const moved = movedIn(cited);
  const label = LABELS[answer.label];
  const n = answer.citations?.length ?? 0;
  return (
    <div className="verdict">
      <div className="verdict-tags">
        {label && (
          <Tag tone={label.tone} title={t("chat.confidence.explain")} icon={<span className="verdict-dot" />}>
            {t(label.text)}
          </Tag>
        )}
        {answer.citations &&
          (n > 0 ? (
            <Tag tone="ok" title={t("chat.verified.explain")} icon={<CheckCircleFilled />}>
              {t("chat.verified", { n })}
            </Tag>
          ) : (
            <Tag tone="warn" title={t("chat.verified.explain")} icon={<ExclamationCircleFilled />}>
              {t("chat.verified.none")}
            </Tag>
          ))}
        {answer.dropped.length > 0 && (
          <Tag tone="warn" title={t("chat.dropped.explain")} icon={<ScissorOutlined />}>
            {t("chat.dropped", { n: answer.dropped.length })}
          </Tag>
        )}
        {moved.length > 0 && (
          <Tag tone="warn" title={t("chat.changed.explain")} icon={<ExclamationCircleFilled />}>
            {t("chat.changed", { n: moved.length })}
          </Tag>
        )}
        {cited?.isForReader && cited.lines.every((lines) => lines.state === "same") && (
          <Tag tone="ok" title={t("chat.unchanged.explain")} icon={<CheckCircleFilled />}>
            {t("chat.unchanged")}
          </Tag>
        )}
        {answer.citations && !answer.model && !answer.failure && <Tag tone="plain">{t("chat.excerpts")}</Tag>}
      </div>
      <Limits answer={answer} moved={moved} />
    </div>
  );
}

interface TagProps {
  readonly tone: Tone;
  readonly title?: string;
  readonly icon?: ReactNode;
  readonly children: string;
}

function Tag({ tone, title, icon, children }: TagProps) {
  return (
    <Tooltip title={title}>
      <span className={`verdict-tag ${tone}`}>
        {icon && <span aria-hidden>{icon}</span>}
        {children}
      </span>
    </Tooltip>
  );
}

/** What was missing for an answer, one sentence each. */
function Limits({ answer, moved }: { readonly answer: Answer; readonly moved: readonly CitedLines[] }) {
  const t = useText();
  const words = useWords();
  const { failure } = answer;
  const sentences = [
    ...answer.degraded
      .map((sentence, place) => ({ sentence, note: answer.degradedParts[place] }))
      .filter(({ sentence }) => sentence !== failure?.detail)
      .map(({ sentence, note }) => words(note && [note], sentence)),
    ...(answer.stale ? [t("chat.stale")] : []),
    ...(answer.lost ? [t("chat.lost", { n: answer.lost })] : []),
    ...moved.map(({ path, start_line: first, end_line: last, state }) =>
      t(`chat.changed.${state === "gone" ? "gone" : "one"}`, { place: `${path}:${first}-${last}` }),
    ),
    ...answer.dropped.map(({ text, reason, reason_parts }) =>
      t("chat.dropped.one", { text, reason: words(reason_parts, reason) }),
    ),
  ];
  if (!sentences.length) return null;
  return (
    <details className="limits">
      <summary>{t("chat.limits", { n: sentences.length })}</summary>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </details>
  );
}

/** Returns the cited lines that are not what they were. */
function movedIn(cited: Cited | undefined): readonly CitedLines[] {
  return (cited?.lines ?? []).filter(({ state }) => state === "changed" || state === "gone");
}
