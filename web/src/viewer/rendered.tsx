import { type ReactNode, useMemo, useRef } from "react";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CodeBlock } from "../chat/code-block";
import { useText } from "../i18n";
import { CitationLink } from "./citation-link";
import { headingId, targetOf } from "./links";
import { hasTag } from "./markup";
import { notebookMarkdown } from "./notebook";
import { PictureInText } from "./picture";
import { isPicture } from "./picture-names";
import "./rendered.css";

const PLUGINS = [remarkGfm];
const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;
interface RenderedProps {
  readonly projectId: string;
  readonly path: string;
  readonly language: string;
  readonly content: string;
}

/** A file of Markdown, or a notebook, as its writer meant it: without its HTML, and without pictures from elsewhere. */
export default function Rendered({ projectId, path, language, content }: RenderedProps) {
  const t = useText();
  const region = useRef<HTMLDivElement>(null);
  const text = language === "notebook" ? notebookMarkdown(content) : withoutHead(content);
  const components = useMemo(() => componentsOf(projectId, path, region), [projectId, path]);
  return (
    <div ref={region} className="rendered" role="region" aria-label={path} tabIndex={0}>
      {hasTag(text) && <p className="rendered-note">{t("viewer.no-html")}</p>}
      <Markdown remarkPlugins={PLUGINS} components={components} urlTransform={(url) => url} skipHtml>
        {text}
      </Markdown>
    </div>
  );
}

/** Settings at the top of a page, such as its title for a site, are no text. */
function withoutHead(content: string): string {
  return content.replace(/^---\r?\n(?:[^\n]*\n){0,60}?---\r?\n/, "");
}

function componentsOf(
  projectId: string,
  path: string,
  region: { readonly current: HTMLDivElement | null },
): Components {
  const toHeading = (id: string) =>
    region.current?.querySelector(`[data-heading="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "start" });
  const link = (href: string, children: ReactNode) => {
    const target = targetOf(href, path);
    if (target.kind === "web") {
      return (
        <a href={target.address} target="_blank" rel="noreferrer noopener">
          {children}
        </a>
      );
    }
    if (target.kind === "file") {
      return (
        <CitationLink projectId={projectId} {...target.place}>
          {children}
        </CitationLink>
      );
    }
    if (target.kind === "heading") {
      return (
        <button type="button" className="rendered-jump" onClick={() => toHeading(headingId(target.id))}>
          {children}
        </button>
      );
    }
    return <span>{children}</span>;
  };
  return {
    a: ({ href = "", children }) => link(href, children),
    // Of a picture elsewhere the words stand in its place: it would be a request to whatever host its writer named.
    img: ({ alt = "", src = "" }) => {
      const target = targetOf(String(src), path);
      return target.kind === "file" && isPicture(target.place.path) ? (
        <PictureInText projectId={projectId} path={target.place.path} alt={alt} />
      ) : (
        <span className="rendered-picture">{alt || src}</span>
      );
    },
    input: ({ checked }) => <span aria-hidden>{checked ? "\u2611" : "\u2610"}</span>,
    pre: ({ children }) => <>{children}</>,
    code: ({ className, children }) => {
      const code = String(children ?? "");
      const language = /language-(\S+)/.exec(className ?? "")?.[1];
      // Only a block ends with a line end.
      return language || code.endsWith("\n") ? (
        <CodeBlock text={code.replace(/\n$/, "")} language={language ?? ""} />
      ) : (
        <code>{children}</code>
      );
    },
    table: ({ children }) => (
      <div className="rendered-table" tabIndex={0}>
        <table>{children}</table>
      </div>
    ),
    ...Object.fromEntries(
      HEADINGS.map((name, depth) => {
        const Name = HEADINGS[Math.min(depth + 1, 5)] ?? "h6";
        return [
          name,
          ({ children }: { readonly children?: ReactNode }) => (
            <Name className={`rendered-${name}`} data-heading={headingId(wordsOf(children))}>
              {children}
            </Name>
          ),
        ];
      }),
    ),
  };
}

function wordsOf(node: ReactNode): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(wordsOf).join("");
  if (node && typeof node === "object" && "props" in node) {
    return wordsOf((node.props as { readonly children?: ReactNode }).children);
  }
  return "";
}
