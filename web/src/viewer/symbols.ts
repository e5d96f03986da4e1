import type { Schemas } from "../api/client";

type SymbolOut = Pick<Schemas["SymbolOut"], "start_line" | "end_line" | "name" | "kind" | "name_line"> &
  Partial<Schemas["SymbolOut"]>;

/** A definition and how many others hold it. */
export interface Nested<T extends SymbolOut = Schemas["SymbolOut"]> {
  readonly symbol: T;
  readonly depth: number;
}

/** Returns definitions in the order of their lines, each with how deep it lies in others. */
export function nested<T extends SymbolOut>(symbols: readonly T[]): Nested<T>[] {
  const ordered = [...symbols].sort((a, b) => a.start_line - b.start_line || b.end_line - a.end_line);
  const around: T[] = [];
  return ordered.map((symbol) => {
    while (around.length && !holds(around[around.length - 1], symbol)) around.pop();
    const depth = around.length;
    around.push(symbol);
    return { symbol, depth };
  });
}

function holds(outer: SymbolOut | undefined, inner: SymbolOut): boolean {
  return outer !== undefined && outer.start_line <= inner.start_line && inner.end_line <= outer.end_line;
}

/** Returns the innermost definition that a line lies in. */
export function symbolAt<T extends SymbolOut>(items: readonly Nested<T>[], line?: number): Nested<T> | undefined {
  if (line === undefined) return undefined;
  return items.findLast(({ symbol }) => symbol.start_line <= line && line <= symbol.end_line);
}
