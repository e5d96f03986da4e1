import type { Drawing } from "./chart";

interface Amount {
  readonly value: number;
  readonly colour: string;
}

export interface StackedBarProps {
  readonly index: number;
  readonly drawing: Drawing;
  readonly all: Amount;
  /** What of it is drawn in another colour, at the bottom. */
  readonly part: Amount;
}

/** A bar of a chart; nothing where nothing is counted. */
export function StackedBar({ index, drawing, all, part }: StackedBarProps) {
  if (!all.value) return null;
  const width = Math.max(drawing.step - 2, 1);
  const x = drawing.x(index) + (drawing.step - width) / 2;
  const [top, cut] = [drawing.y(all.value), drawing.y(part.value)];
  return (
    <>
      <rect x={x} y={top} width={width} height={cut - top} rx={Math.min(2, width / 2)} fill={all.colour} />
      {part.value > 0 && <rect x={x} y={cut} width={width} height={drawing.floor - cut} fill={part.colour} />}
    </>
  );
}
