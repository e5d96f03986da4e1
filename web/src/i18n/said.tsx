import { Fragment, type ReactNode, useCallback } from "react";
import { type Key, useLanguage, useText } from ".";
import { en } from "./en";
import { type Note, piecesOf, SEPARATORS, wordsOf } from "./notes";
import { onPage } from "./on-page";

interface SaidProps {
  /** The sentence in English. */
  readonly text: string;
  /** What it says. */
  readonly notes?: readonly Note[];
}

/** A text of the server in the language of the page; where there is no translation as it is, marked as English. */
export function Said({ text, notes }: SaidProps) {
  const { language } = useLanguage();
  return piecesOf(notes, text, language).map((piece, place) => (
    <Fragment key={place}>
      {place > 0 && SEPARATORS[language]}
      {piece.isForeign ? <span lang="en">{piece.text}</span> : piece.text}
    </Fragment>
  ));
}

/** Returns what puts notes of the server into the language of the page. */
export function useWords(): (notes: readonly Note[] | undefined, sentence: string) => string {
  const { language } = useLanguage();
  return useCallback((notes, sentence) => wordsOf(notes, sentence, language), [language]);
}

interface ToldProblem {
  readonly title: string;
  readonly detail: ReactNode;
  readonly hint: ReactNode;
}

/** A problem as the server or a job tells it. */
interface SaidProblem {
  readonly code: string;
  readonly detail: string;
  readonly hint: string;
  readonly detail_parts?: readonly Note[];
  readonly hint_parts?: readonly Note[];
}

/** Returns what tells of a problem: in English its own sentence, else a title for its code and the sentence below. */
export function useTold(): (problem: SaidProblem) => ToldProblem {
  const { language } = useLanguage();
  const titleOf = useProblemTitle();
  return useCallback(
    ({ code, detail, hint, detail_parts, hint_parts }) =>
      language === "en"
        ? { title: onPage(detail, "en"), detail: undefined, hint: onPage(hint, "en") }
        : {
            title: titleOf(code),
            detail: <Said text={detail} notes={detail_parts} />,
            hint: <Said text={hint} notes={hint_parts} />,
          },
    [language, titleOf],
  );
}

export function useProblemTitle(): (code: string) => string {
  const t = useText();
  return useCallback(
    (code: string) => t((`problem.${code}` in en ? `problem.${code}` : "problem.unknown") as Key),
    [t],
  );
}

/** Returns the name of a kind of symbol; of one that is not known as the server says it. */
export function useKind(): (kind: string) => string {
  const t = useText();
  return (kind) => (`kind.${kind}` in en ? t(`kind.${kind}` as Key) : kind);
}
