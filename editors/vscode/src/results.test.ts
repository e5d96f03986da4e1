import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { NO_MODEL, answerOf, callersOf, fileOf, hitsOf, isName, rootOf } from "./results";

test("hits keep their order, and what has another form is left out", () => {
  const good = { path: "a.py", line: 3, start_line: 1, end_line: 9, name: "send", reason: "named send" };
  const shape = { hits: [good, { path: 7 }, null, { path: "b.py", line: -1 }, { path: "c.py", start_line: 2 }] };
  assert.deepEqual(hitsOf(shape), {
    hits: [
      { path: "a.py", line: 3, endLine: 9, title: "send", detail: "named send" },
      { path: "c.py", line: 2, endLine: 2, title: "c.py", detail: "" },
    ],
    notes: [],
  });
  for (const broken of [null, [], "x", { hits: {} }]) {
    assert.deepEqual(hitsOf(broken), { hits: [], notes: [] });
  }
});

test("weak hits and problems of a search are told", () => {
  const shape = { hits: [{ path: "a.py", line: 1 }], weak: true, degraded: ["half an index"] };
  const { notes } = hitsOf(shape);
  assert.equal(notes.length, 2);
  assert.match(notes[0] ?? "", /Most likely nothing/);
});

test("callers by the name alone are marked", () => {
  const edge = { path: "a.py", line: 4, symbol: "all", kind: "called by", certainty: "by-name" };
  const found = callersOf({ edges: [edge, { ...edge, certainty: "exact" }], completeness: "a lower bound" });
  assert.deepEqual(
    found.hits.map((hit) => hit.detail),
    ["called by, by the name alone", "called by"],
  );
  assert.deepEqual(found.notes, ["a lower bound"]);
});

test("an answer without a model says so", () => {
  const shape = { question: "q", answer: "text", model: "", citations: [{ path: "a.py", start_line: 2, end_line: 5 }] };
  assert.deepEqual(answerOf(shape).notes, [NO_MODEL]);
  assert.deepEqual(answerOf(shape).citations, [{ path: "a.py", line: 2, endLine: 5 }]);
  assert.deepEqual(answerOf({ ...shape, model: "ollama:x" }).notes, []);
});

test("no place leads out of the project, also not by a link", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "codefathom-")));
  try {
    const root = join(folder, "project");
    mkdirSync(root);
    writeFileSync(join(root, "..b.py"), "");
    writeFileSync(join(folder, "secret"), "");
    symlinkSync(join(folder, "secret"), join(root, "link"));
    assert.equal(fileOf(root, "..b.py"), join(root, "..b.py"));
    for (const path of ["../secret", join(folder, "secret"), "link", "", ".", "commit/0123456789ab", "a\0b"]) {
      assert.equal(fileOf(root, path), undefined, path);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a root is an absolute path", () => {
  assert.equal(rootOf({ root: "/p" }), "/p");
  assert.throws(() => rootOf({ root: "p" }), TypeError);
  assert.throws(() => rootOf(null), TypeError);
});

test("only names are asked for", () => {
  assert.ok(["send", "_x1", "größe", "$el", "valid?"].every(isName));
  assert.ok(!["", "a b", "--set", "a.b", "1x", "x".repeat(201)].some(isName));
});
