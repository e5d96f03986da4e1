import { memo, useMemo, type ReactNode } from "react";
import Markdown, { defaultUrlTransform, type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { useLanguage } from "../i18n";
import { withMarks } from "../i18n/notes";
import { CitationLink } from "../viewer/citation-link";
import { isSoonSet } from "../viewer/markup";
import type { Answer } from "./answer";
import { type CitedPlace, linked, shortName } from "./citations";
import { CodeBlock } from "./code-block";

// Whoever writes an answer cannot know it, and so cannot write a link that looks as if it was verified.
const SCHEME = `cite-${crypto.getRandomValues(new Uint32Array(2)).join("")}`;
const PLUGINS = [remarkGfm];

type AnswerTextProps = Pick<Answer, "text" | "sources" | "citations">;

/** The text of an answer as it is so far: Markdown in which verified citations are links that open the viewer. */
export default memo(function AnswerText({ text, sources, citations }: AnswerTextProps) {
  const { language } = useLanguage();
  const { markdown, places } = useMemo(
    () => linked({ text, sources, citations }, SCHEME, (prose) => withMarks(prose, language)),
    [text, sources, citations, language],
  );
  const components = useMemo(() => componentsOf(places), [places]);
  // What a model writes may be made to hold up the page: its places are then beside the text only.
  if (!isSoonSet(markdown)) {
    return (
      <div className="answer-text answer-text-plain" data-unset>
        {text}
      </div>
    );
  }
  return (
    <div className="answer-text">
      <Markdown remarkPlugins={PLUGINS} components={components} urlTransform={kept} skipHtml={false}>
        {markdown}
      </Markdown>
    </div>
  );
});

function kept(url: string): string {
  return url.startsWith(`${SCHEME}:`) ? url : defaultUrlTransform(url);
}

function componentsOf(places: readonly CitedPlace[]): Components {
  const paths = places.map((place) => place.path);
  return {
    a: ({ href = "", children }) => {
      const place = href.startsWith(`${SCHEME}:`) ? places[Number(href.slice(SCHEME.length + 1))] : undefined;
      return place ? <Cited place={place} paths={paths} /> : <Elsewhere href={href}>{children}</Elsewhere>;
    },
    // An image would be a request to whatever host its writer named.
    img: ({ alt, src }) => <Elsewhere href={typeof src === "string" ? src : ""}>{alt || src}</Elsewhere>,
    pre: ({ children }) => <>{children}</>,
    code: ({ className, children }) => {
      const text = String(children ?? "");
      const language = /language-(\S+)/.exec(className ?? "")?.[1];
      // Only a block ends with a line end.
      return language || text.endsWith("\n") ? (
        <CodeBlock text={text.replace(/\n$/, "")} language={language ?? ""} />
      ) : (
        <code>{children}</code>
      );
    },
    table: ({ children }) => (
      <div className="answer-table">
        <table>{children}</table>
      </div>
    ),
    h1: ({ children }) => <h3>{children}</h3>,
    h2: ({ children }) => <h3>{children}</h3>,
    h3: ({ children }) => <h4>{children}</h4>,
    h4: ({ children }) => <h5>{children}</h5>,
  };
}

function Cited({ place, paths }: { readonly place: CitedPlace; readonly paths: readonly string[] }) {
  const { startLine, endLine } = place;
  const lines = endLine > startLine ? `${startLine}-${endLine}` : `${startLine}`;
  return (
    <CitationLink {...place}>
      <span className="cited-place">{`${shortName(place.path, paths)}:${lines}`}</span>
    </CitationLink>
  );
}

function Elsewhere({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  if (!/^(https?|mailto):/.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}
