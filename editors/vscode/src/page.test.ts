import assert from "node:assert/strict";
import { test } from "node:test";
import { answerPage, escaped, sentencePage } from "./page";

const hostile = `<script>alert(1)</script><img src=x onerror='x'>" onload="x \u202e`;
const answer = {
  question: hostile,
  text: hostile,
  citations: [{ path: `${hostile}.py`, line: 1, endLine: 3 }],
  hasModel: true,
  notes: [hostile],
};

test("nothing of a repository is read as HTML", () => {
  const page = answerPage(answer, "n0");
  const tags = [...page.matchAll(/<\/?([a-z0-9]+)/g)].map((match) => match[1]);
  assert.deepEqual(
    tags.filter((tag) => ["script", "img", "iframe"].includes(tag ?? "")),
    [],
  );
  assert.ok(!/<[^>]*\son\w+=/.test(page));
  assert.ok(!page.includes("\u202e"));
  assert.equal(escaped(`&<>"'`), "&amp;&lt;&gt;&quot;&#39;");
});

test("the page may load and run nothing", () => {
  for (const page of [answerPage(answer, "n0"), sentencePage("Hello", "n0")]) {
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1];
    assert.equal(policy, "default-src 'none'; style-src 'nonce-n0'; base-uri 'none'; form-action 'none'");
  }
});

test("a link has the number of a citation, and nothing that a repository wrote", () => {
  const links = [...answerPage(answer, "n0").matchAll(/href="([^"]*)"/g)].map((match) => match[1]);
  assert.deepEqual(links, ["command:codefathom.openCitation?%5B0%5D"]);
});

test("code between fences is shown as code, without its fences", () => {
  const text = "See this:\n```python\na = 1 < 2\n```\nand that.\n";
  const page = answerPage({ ...answer, text }, "n0");
  assert.ok(page.includes('<pre>See this:\n</pre><pre class="code">a = 1 &lt; 2\n</pre><pre>and that.\n</pre>'));
  assert.ok(!page.includes("```"));
});
