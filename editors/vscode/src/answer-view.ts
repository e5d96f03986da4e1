// The last answer in the side bar.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { OPEN_CITATION, answerPage, sentencePage } from "./page";
import type { Answer, Place } from "./results";

export class AnswerView implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private answer: Answer | undefined;
  private root = "";

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.webview.options = { enableScripts: false, enableCommandUris: [OPEN_CITATION], localResourceRoots: [] };
    view.onDidDispose(() => (this.view = undefined));
    this.draw();
  }

  show(answer: Answer, root: string): void {
    this.answer = answer;
    this.root = root;
    this.draw();
  }

  /** The place of a citation with the root of its project; undefined for a number that the page does not have. */
  citation(n: unknown): { place: Place; root: string } | undefined {
    const place = typeof n === "number" ? this.answer?.citations[n] : undefined;
    return place && { place, root: this.root };
  }

  private draw(): void {
    if (this.view) {
      const nonce = randomBytes(16).toString("hex");
      const empty = "Ask a question with the command “Codefathom: Ask for an Answer”.";
      this.view.webview.html = this.answer ? answerPage(this.answer, nonce) : sentencePage(empty, nonce);
    }
  }
}
