import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as program from "./program";
import * as results from "./results";

const node = process.execPath;

test("a program that lies in a repository is refused, a name and an absolute path are not", () => {
  for (const planted of ["./fathom", "tools/fathom", ".venv\\fathom.exe"]) {
    assert.throws(() => program.programOf(planted), /absolute path/);
  }
  assert.equal(program.programOf(" fathom "), "fathom");
  assert.equal(program.programOf(""), "fathom");
  assert.equal(program.programOf("/opt/fathom"), "/opt/fathom");
});

test("a question is one argument behind --, whatever it holds", () => {
  for (const question of ["--set=llm.model=x", "$(rm -rf /)", 'a" & calc "']) {
    assert.deepEqual(program.searchArguments("/p", question, 7).slice(-2), ["--", question]);
    assert.deepEqual(program.askArguments("/p", question).slice(-2), ["--", question]);
  }
  assert.deepEqual(program.callersArguments("/p", "send").slice(-2), ["--", "@@send"]);
});

test("no shell reads the arguments, and JSON comes back, also where nothing was found", async () => {
  const script = "process.stdout.write(JSON.stringify(process.argv.slice(1))); process.exitCode = 1";
  assert.deepEqual(await program.runJson(node, ["-e", script, "$HOME `id`"]), ["$HOME `id`"]);
});

test("what fails says why", async () => {
  await assert.rejects(program.runJson("/nowhere/fathom", []), /was not found.*codefathom\.path/);
  const failing = "console.error('fathom: bad \\u202e name'); process.exit(2)";
  await assert.rejects(program.runJson(node, ["-e", failing]), /bad \ufffd name/);
  await assert.rejects(program.runJson(node, ["-e", "console.log('{')"]), /no JSON/);
  const end = new AbortController();
  const running = program.runJson(node, ["-e", "setInterval(() => {}, 1000)"], end.signal);
  end.abort();
  await assert.rejects(running, /stopped/);
});

// As VS Code finds links in its messages: parseLinkedText in src/vs/base/common/linkedText.ts.
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

test("a message has no link that runs a command, whatever a repository holds", () => {
  const name = "[Open](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22id%5Cn%22%7D).py";
  assert.match(name, LINK);
  for (const text of [name, `[a]${name}`, name.replace("](", "]\u202e("), name.replace("](", "](("), `[${name}`]) {
    assert.doesNotMatch(program.messageOf(text), LINK);
  }
  assert.equal(program.messageOf("a[0] is (not) here"), "a[0] is (not) here");
});

test("it does not run in the folder of a repository", async () => {
  const folder = await program.runJson(node, ["-e", "console.log(JSON.stringify(process.cwd()))"]);
  assert.notEqual(folder, process.cwd());
});

const real = process.env.FATHOM_PROGRAM;

test("the real program answers", { skip: real ? false : "FATHOM_PROGRAM names no program" }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "codefathom-"));
  try {
    writeFileSync(
      join(folder, "mail.py"),
      "def send(letter):\n    return letter\n\n\ndef all():\n    return send(1)\n",
    );
    chmodSync(folder, 0o700);
    const own = (args: string[]) => program.runJson(real as string, args);
    const found = results.hitsOf(await own(program.searchArguments(folder, "send a letter", 5)));
    assert.equal(found.hits[0]?.path, "mail.py");
    assert.ok(results.fileOf(results.rootOf(await own(program.statusArguments(folder))), "mail.py"));
    const callers = results.callersOf(await own(program.callersArguments(folder, "send")));
    assert.deepEqual(
      callers.hits.map((hit) => [hit.path, hit.title, hit.line]),
      [["mail.py", "all", 6]],
    );
    const answer = results.answerOf(await own(program.askArguments(folder, "how is a letter sent")));
    assert.equal(answer.citations[0]?.path, "mail.py");
    assert.ok(answer.hasModel || answer.notes.includes(results.NO_MODEL));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
