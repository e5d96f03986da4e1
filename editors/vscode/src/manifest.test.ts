import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const extension = readFileSync("src/extension.ts", "utf8");

test("nothing runs in a workspace that is not trusted", () => {
  assert.equal(manifest.capabilities.untrustedWorkspaces.supported, false);
});

test("no folder chooses the program that is run", () => {
  for (const name of ["path", "languageServer"]) {
    assert.equal(manifest.contributes.configuration.properties[`codefathom.${name}`].scope, "machine");
  }
});

test("each command, view and setting of the manifest is made", () => {
  for (const { command } of manifest.contributes.commands) {
    assert.ok(extension.includes(`command("${command}"`), command);
  }
  for (const { id } of manifest.contributes.views.codefathom) {
    assert.ok(extension.includes(`"${id}"`), id);
  }
  for (const key of Object.keys(manifest.contributes.configuration.properties)) {
    assert.match(extension, new RegExp(`setting<\\w+>\\("${key.split(".")[1]}"\\)`));
  }
});
