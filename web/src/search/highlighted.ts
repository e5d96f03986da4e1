import { useEffect, useMemo, useState } from "react";
import { linesOfTokens, type Token } from "./tokens";
import "../viewer/highlight.css";

type Lines = readonly (readonly Token[])[];

/** The coloured pieces of lines; plain ones until the highlighter has come. */
export function useTokens(lines: readonly string[], language: string): Lines {
  const plain = useMemo(() => lines.map((text) => (text ? [{ text, style: "" }] : [])), [lines]);
  const [coloured, setColoured] = useState<{ readonly of: readonly string[]; readonly tokens: Lines }>();
  useEffect(() => {
    let isWanted = true;
    const show = async () => {
      const { highlighted } = await import("../viewer/highlight");
      const html = await highlighted(lines.join("\n"), language);
      if (isWanted) setColoured({ of: lines, tokens: linesOfTokens(html.join("\n")) });
    };
    show().catch(() => undefined); // the code is readable without colours
    return () => {
      isWanted = false;
    };
  }, [lines, language]);
  return coloured?.of === lines && coloured.tokens.length === lines.length ? coloured.tokens : plain;
}
