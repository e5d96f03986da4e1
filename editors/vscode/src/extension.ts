// Commands and views of VS Code over the program `fathom`. It starts in trusted workspaces only, see package.json.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { AnswerView } from "./answer-view";
import { PlaceList } from "./list-view";
import { OPEN_CITATION } from "./page";
import * as program from "./program";
import * as results from "./results";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const hits = new PlaceList("codefathom.hits");
  const callers = new PlaceList("codefathom.callers");
  const answer = new AnswerView();
  const command = (name: string, run: (...values: unknown[]) => unknown) =>
    vscode.commands.registerCommand(name, async (...values: unknown[]) => {
      try {
        await run(...values);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        void vscode.window.showErrorMessage(program.messageOf(`Codefathom: ${why}`));
      }
    });
  context.subscriptions.push(
    hits.view,
    callers.view,
    vscode.window.registerWebviewViewProvider("codefathom.answer", answer),
    command("codefathom.search", () => search(hits)),
    command("codefathom.whoCalls", () => whoCalls(callers)),
    command("codefathom.ask", () => ask(answer)),
    command("codefathom.open", (hit) => open((hit as { root: string }).root, hit as results.Place)),
    command(OPEN_CITATION, (n) => openCitation(answer, n)),
    command("codefathom.restart", restart),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}

async function search(list: PlaceList): Promise<void> {
  const question = await vscode.window.showInputBox({ prompt: "Search by a question, a name or an error message" });
  if (question?.trim()) {
    const limit = setting<number>("limit");
    const [value, root] = await asked("Searching", (folder) => program.searchArguments(folder, question, limit));
    list.show(results.hitsOf(value), root, question);
    await vscode.commands.executeCommand("codefathom.hits.focus");
  }
}

async function whoCalls(list: PlaceList): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const range = editor?.document.getWordRangeAtPosition(editor.selection.active);
  const name = range ? editor!.document.getText(range) : "";
  if (!results.isName(name)) {
    throw new program.ProgramError("put the cursor on the name of a function, method or class");
  }
  const [value, root] = await asked(`Who calls ${name}`, (folder) => program.callersArguments(folder, name));
  list.show(results.callersOf(value), root, name);
  await vscode.commands.executeCommand("codefathom.callers.focus");
}

async function ask(view: AnswerView): Promise<void> {
  const question = await vscode.window.showInputBox({ prompt: "Ask for an answer with checked citations" });
  if (question?.trim()) {
    const [value, root] = await asked("Answering", (folder) => program.askArguments(folder, question));
    view.show(results.answerOf(value), root);
    await vscode.commands.executeCommand("codefathom.answer.focus");
  }
}

/** Ask the program about the folder in use; return its JSON, and the root in which its paths begin. */
async function asked(title: string, args: (folder: string) => string[]): Promise<[unknown, string]> {
  const folder = folderInUse();
  const path = program.programOf(setting<string>("path"));
  const where = { location: vscode.ProgressLocation.Notification, title: `Codefathom: ${title}`, cancellable: true };
  return vscode.window.withProgress(where, async (_, token) => {
    const end = new AbortController();
    token.onCancellationRequested(() => end.abort());
    const value = await program.runJson(path, args(folder), end.signal); // it makes the index, where there is none
    const root = results.rootOf(await program.runJson(path, program.statusArguments(folder), end.signal));
    return [value, root];
  });
}

/** The folder of the file in the editor, else the first one of the workspace. */
function folderInUse(): string {
  const document = vscode.window.activeTextEditor?.document.uri;
  const own = document && vscode.workspace.getWorkspaceFolder(document);
  const folder = (own ?? vscode.workspace.workspaceFolders?.[0])?.uri;
  if (folder?.scheme !== "file") {
    throw new program.ProgramError("open a folder on this machine first");
  }
  return folder.fsPath;
}

async function openCitation(view: AnswerView, n: unknown): Promise<void> {
  const cited = view.citation(n);
  if (cited) {
    await open(cited.root, cited.place);
  }
}

async function open(root: string, place: results.Place): Promise<void> {
  const file = results.fileOf(root, place.path);
  if (!file) {
    throw new program.ProgramError(`${place.path} is no file of this project now`);
  }
  const selection = new vscode.Range(place.line - 1, 0, place.line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), { selection, preview: true });
}

/** Start the language server, if the settings want one and a folder is open. */
async function restart(): Promise<void> {
  await deactivate();
  if (!setting<boolean>("languageServer") || !vscode.workspace.workspaceFolders?.length) {
    return;
  }
  const options = { cwd: program.startFolder() };
  const command = program.programOf(setting<string>("path"));
  const server = { command, args: program.serverArguments(folderInUse()), options };
  client = new LanguageClient("codefathom", "Codefathom", server, { documentSelector: [{ scheme: "file" }] });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const why = error instanceof Error ? error.message : String(error);
    const remedy = "It needs pip install 'codefathom[lsp]'; codefathom.languageServer switches it off.";
    const message = `Codefathom: \`${command} lsp\` did not start (${why}). ${remedy}`;
    void vscode.window.showWarningMessage(program.messageOf(message));
  }
}

function setting<T>(name: string): T {
  return vscode.workspace.getConfiguration("codefathom").get(name) as T;
}
