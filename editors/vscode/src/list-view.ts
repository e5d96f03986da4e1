// A list of places in the side bar.

import * as vscode from "vscode";
import { printable } from "./program";
import type { Hit, Hits } from "./results";

/** A hit with the root of its project, in which its path begins. */
export interface Listed extends Hit {
  root: string;
}

export class PlaceList implements vscode.TreeDataProvider<Listed> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly view: vscode.TreeView<Listed>;
  private items: Listed[] = [];

  constructor(id: string) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
  }

  show(found: Hits, root: string, title: string): void {
    this.items = found.hits.map((hit) => ({ ...hit, root }));
    this.view.description = title;
    this.view.message = [...(found.hits.length ? [] : ["Nothing was found."]), ...found.notes].join("\n") || undefined;
    this.changed.fire();
  }

  getChildren(parent?: Listed): Listed[] {
    return parent ? [] : this.items;
  }

  getTreeItem(hit: Listed): vscode.TreeItem {
    const where = printable(`${hit.path}:${hit.line}`);
    const item = new vscode.TreeItem(printable(hit.title));
    item.description = where;
    item.tooltip = `${where}\n${hit.detail}`; // a plain text: Markdown is not read in it
    item.command = { command: "codefathom.open", title: "Open", arguments: [hit] };
    return item;
  }
}
