import { useEffect, useState } from "react";
import { useText } from "../i18n";
import { CopyButton } from "./copy-button";
import { languageOf } from "./languages";
import "../viewer/highlight.css";
import "./code-block.css";

/** Code in an answer, coloured once that was loaded, with a button that copies it. */
export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  const t = useText();
  const html = useColours(text, language);
  return (
    <div className="code-block">
      <pre tabIndex={0}>
        {/* The highlighter escapes what it is given. */}
        {html === undefined ? <code>{text}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}
      </pre>
      <CopyButton className="code-block-copy" text={text} label={t("chat.copy.code")} />
    </div>
  );
}

function useColours(text: string, language: string): string | undefined {
  const [found, setFound] = useState<{ readonly of: string; readonly html: string }>();
  useEffect(() => {
    let isLeft = false;
    const load = async () => {
      const { highlighted } = await import("../viewer/highlight");
      const lines = await highlighted(text, languageOf(language));
      if (!isLeft) setFound({ of: text, html: lines.join("\n") });
    };
    if (language) load().catch(() => undefined); // It stays readable without colours.
    return () => {
      isLeft = true;
    };
  }, [text, language]);
  return found?.of === text ? found.html : undefined;
}
