import type { Core } from "cytoscape";

export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** Returns which boxes can be shown so that none lies on another: the earlier ones go first. */
export function apart(boxes: readonly Box[]): readonly boolean[] {
  const shown: Box[] = [];
  return boxes.map((box) => {
    const isFree = !shown.some((one) => one.x1 < box.x2 && box.x1 < one.x2 && one.y1 < box.y2 && box.y1 < one.y2);
    if (isFree) shown.push(box);
    return isFree;
  });
}

const ONLY_NAME = { includeNodes: false, includeEdges: false, includeOverlays: false, includeLabels: true };

/** Shows the names that have room: of the chosen folder first, then of those that most others import or are imported by. */
export function showNames(drawn: Core): void {
  drawn.batch(() => {
    const rank = (id: string) => {
      const node = drawn.getElementById(id);
      return Number(node.hasClass("chosen")) * 1e6 + Number(node.hasClass("near")) * 1e3 + node.degree(false);
    };
    const nodes = drawn.nodes().toArray();
    nodes.sort((one, other) => rank(other.id()) - rank(one.id()) || other.data("size") - one.data("size"));
    const isShown = apart(nodes.map((node) => node.renderedBoundingBox(ONLY_NAME)));
    nodes.forEach((node, index) => node.toggleClass("unnamed", !isShown[index]));
  });
}
