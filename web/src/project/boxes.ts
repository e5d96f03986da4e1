/** Files as boxes of a treemap, inside the boxes of their folders. */

import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import type { Schemas } from "../api/client";

export type SizedFile = Schemas["SizedFileOut"];
export type Age = "week" | "month" | "half" | "year" | "older" | "none";

const DAY_S = 86_400;
const AGES: readonly (readonly [Age, number])[] = [
  ["week", 7],
  ["month", 30],
  ["half", 183],
  ["year", 366],
];
const HEAD = 16; // for the name of a folder

interface Node {
  readonly name: string;
  readonly path: string;
  readonly file?: SizedFile;
  readonly children: Map<string, Node>;
}

export interface Box {
  readonly path: string;
  readonly name: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** None for a folder. */
  readonly file: SizedFile | undefined;
}

/** How long ago a file was changed; times are seconds since 1970. */
export function ageOf(changedAt: number, now = Date.now() / 1000): Age {
  if (!changedAt) return "none";
  const days = (now - changedAt) / DAY_S;
  return AGES.find(([, most]) => days <= most)?.[0] ?? "older";
}

/** Returns the boxes of files, and those of the first folders, which come before what lies in them. */
export function boxesOf(files: readonly SizedFile[], width: number, height: number): readonly Box[] {
  const root = hierarchy(treeOf(files), (node) => [...node.children.values()])
    .sum((node) => node.file?.size ?? 0)
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  const placed = treemap<Node>()
    .tile(treemapSquarify)
    .size([width, height])
    .paddingInner(1)
    .paddingTop((node) => (node.depth === 1 && node.children ? HEAD : 0))(root);
  return placed
    .descendants()
    .filter((node) => node.data.file || node.depth === 1)
    .map((node) => ({
      path: node.data.path,
      name: node.data.name,
      left: node.x0,
      top: node.y0,
      width: Math.max(node.x1 - node.x0, 0),
      height: Math.max(node.y1 - node.y0, 0),
      file: node.data.file,
    }));
}

function treeOf(files: readonly SizedFile[]): Node {
  const root: Node = { name: "", path: "", children: new Map() };
  for (const file of files) {
    const parts = file.path.split("/");
    let here = root;
    for (const [place, name] of parts.entries()) {
      const path = parts.slice(0, place + 1).join("/");
      const next = here.children.get(name) ?? {
        name,
        path,
        children: new Map<string, Node>(),
        ...(place === parts.length - 1 && { file }),
      };
      here.children.set(name, next);
      here = next;
    }
  }
  return root;
}
