import type { Schemas } from "../api/client";
import { useText } from "../i18n";

export interface WroteProps {
  /** The lines that begin here and come from one commit. */
  readonly group: Schemas["BlamedLinesOut"] | undefined;
  readonly onHistory: (startLine: number, endLine: number) => void;
}

/** Who wrote a line and when, on the first of the lines that come from one commit. */
export function Wrote({ group, onHistory }: WroteProps) {
  const t = useText();
  if (!group) return <span className="wrote" />;
  const { commit, start_line, end_line } = group;
  if (!commit) return <span className="wrote wrote-first soft">{t("viewer.blame.none")}</span>;
  const { author, date, subject } = commit;
  return (
    <button
      type="button"
      className="wrote wrote-first"
      title={`${subject}\n${author}, ${date}, ${commit.commit.slice(0, 10)}`}
      aria-label={t("viewer.blame.line", { line: start_line, author, date, subject })}
      onClick={() => onHistory(start_line, end_line)}
    >
      <span>{date}</span> <span className="wrote-name">{author}</span>
    </button>
  );
}
