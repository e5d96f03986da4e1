// The page of an answer. It has no script, loads nothing, and all of its texts are escaped.

import { printable } from "./program";
import type { Answer } from "./results";

/** The one command that a link of the page may call, with the number of a citation. */
export const OPEN_CITATION = "codefathom.openCitation";

const STYLE = `
body { padding: 0 1em 1em; line-height: 1.5; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-family: inherit; }
.code { font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); }
.note { border-left: 3px solid var(--vscode-editorWarning-foreground); padding-left: 0.6em; }
a { color: var(--vscode-textLink-foreground); overflow-wrap: anywhere; }
`;

export function answerPage(answer: Answer, nonce: string): string {
  const notes = answer.notes.map((note) => `<p class="note">${escaped(note)}</p>`);
  const places = answer.citations.map((place, n) => {
    const words = `${place.path}:${place.line}${place.endLine > place.line ? `-${place.endLine}` : ""}`;
    return `<li><a href="command:${OPEN_CITATION}?${encodeURIComponent(JSON.stringify([n]))}">${escaped(words)}</a></li>`;
  });
  const cited = places.length ? `<h3>Checked citations</h3><ol>${places.join("")}</ol>` : "<p>It cites no place.</p>";
  return page(`<h2>${escaped(answer.question)}</h2>${notes.join("")}${textOf(answer.text)}${cited}`, nonce);
}

/** A text, in which code stands between fences. */
function textOf(text: string): string {
  const parts = text.split(/^`{3,}.*\n?/m);
  return parts
    .map((part, n) => (part.trim() ? `<pre${n % 2 ? ' class="code"' : ""}>${escaped(part)}</pre>` : ""))
    .join("");
}

/** A page with one sentence. */
export function sentencePage(sentence: string, nonce: string): string {
  return page(`<p>${escaped(sentence)}</p>`, nonce);
}

export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return printable(text).replace(/[&<>"']/g, (sign) => names[sign] ?? "");
}

function page(body: string, nonce: string): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>${body}</body>
</html>`;
}
