// Runs the program `fathom` and reads its JSON. Nothing here knows VS Code.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";

const MOST_BYTES = 32 * 1024 * 1024;
const MOST_MS = 10 * 60 * 1000;
const NOTHING_FOUND = 1; // an exit code whose output is whole

/** The program could not be started, or it failed; the message is for a person. */
export class ProgramError extends Error {}

/** Return the program that a setting names. A path from the folder of a repository would run what lies in it. */
export function programOf(setting: string): string {
  const name = setting.trim() || "fathom";
  if (!isAbsolute(name) && /[\\/]/.test(name)) {
    throw new ProgramError(`codefathom.path is ${JSON.stringify(name)}: give an absolute path, or a name in PATH`);
  }
  return name;
}

/** The arguments of a search; `--` keeps a question that begins with a dash a question. */
export function searchArguments(folder: string, question: string, limit: number): string[] {
  return ["search", "--json", "-q", "-C", folder, "-n", String(limit), "--", question];
}

export function callersArguments(folder: string, name: string): string[] {
  return ["related", "--json", "-q", "-C", folder, "--direction", "callers", "--", `@@${name}`];
}

export function askArguments(folder: string, question: string): string[] {
  return ["ask", "--json", "-q", "-C", folder, "--", question];
}

export function statusArguments(folder: string): string[] {
  return ["status", "--json", "-q", "-C", folder];
}

export function serverArguments(folder: string): string[] {
  return ["lsp", "-C", folder];
}

/**
 * Where the program is started. On Windows a name is looked for in the current folder first, so that is never the
 * folder of a repository.
 */
export function startFolder(): string {
  return homedir();
}

/** Run the program without a shell, and return the JSON that it prints. */
export function runJson(program: string, args: readonly string[], signal?: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { cwd: startFolder(), maxBuffer: MOST_BYTES, timeout: MOST_MS, signal, windowsHide: true };
    execFile(program, [...args], options, (error, out, said) => {
      const code = error ? error.code : 0;
      if (code !== 0 && code !== NOTHING_FOUND) {
        reject(new ProgramError(whyFailed(program, code, said || String(error?.message ?? ""))));
        return;
      }
      try {
        resolve(JSON.parse(out));
      } catch {
        reject(new ProgramError(whyFailed(program, code, said || "it printed no JSON")));
      }
    });
  });
}

function whyFailed(program: string, code: unknown, said: string): string {
  if (code === "ENOENT") {
    return `${program} was not found. Install Codefathom, or set codefathom.path to its absolute path.`;
  }
  if (code === "ABORT_ERR") {
    return "stopped";
  }
  const lines = said.trim().split("\n").slice(-3).join(" ");
  return printable(lines).slice(0, 500) || `${program} ended with ${String(code)}`;
}

/** A text without characters that steer a display, such as those that turn its direction. */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    "\ufffd",
  );
}

/**
 * A text for a message of VS Code, which makes `[words](command:…)` in it a link that runs a command: the name of a file
 * could be one. A space ends that.
 */
export function messageOf(text: string): string {
  return printable(text).replaceAll("](", "] (");
}
