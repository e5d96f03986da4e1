import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useText } from "../i18n";
import { ticks } from "./figures";
import "./chart.css";

const HEIGHT = 190;
const TOP = 10;
const BOTTOM = 24;
const RIGHT = 6;

/** Where a chart draws: from minute and value to a place in the picture. */
export interface Drawing {
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  /** The width of one minute. */
  readonly step: number;
  readonly floor: number;
}

export interface ChartProps {
  readonly title: string;
  readonly summary: string;
  readonly legend: readonly { readonly name: string; readonly colour: string }[];
  /** What the arrow keys do; without it, they move from minute to minute. */
  readonly keys?: string;
  /** The name of the right end; without it, now. */
  readonly end?: string;
  /** Begin of each minute, or other step, in words. */
  readonly times: readonly string[];
  readonly most: number;
  readonly axis: (value: number) => string;
  /** What a minute tells when it is pointed at. */
  readonly tell: (index: number) => ReactNode;
  readonly children: (drawing: Drawing) => ReactNode;
}

/** A chart over minutes, with an axis, a legend, and the numbers of the minute that is pointed at. */
export function Chart({ title, summary, keys, end, legend, times, most, axis, tell, children }: ChartProps) {
  const t = useText();
  const { box, width } = useWidth();
  const [pointed, setPointed] = useState<number>();
  const marks = ticks(most);
  const left = 12 + Math.max(...marks.map((mark) => widthOf(axis(mark))));
  const drawing = drawingOf(width, left, times.length, marks[marks.length - 1] ?? 1);
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    const place = event.clientX - event.currentTarget.getBoundingClientRect().left - left;
    setPointed(clamped(Math.floor(place / drawing.step), times.length));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (move) setPointed((before) => clamped((before ?? times.length) + move, times.length));
    if (event.key === "Escape") setPointed(undefined);
  };
  return (
    <figure className="panel chart">
      <figcaption>
        <h2>{title}</h2>
        <ul className="legend">
          {legend.map((item) => (
            <li key={item.name}>
              <i style={{ background: item.colour }} aria-hidden />
              {item.name}
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        ref={box}
        className="chart-box"
        role="group"
        aria-label={`${summary}. ${keys ?? t("monitoring.keys")}`}
        tabIndex={0}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setPointed(undefined)}
        onBlur={() => setPointed(undefined)}
        onKeyDown={onKeyDown}
      >
        <svg width={width} height={HEIGHT} aria-hidden>
          <Axis marks={marks} axis={axis} drawing={drawing} left={left} width={width} times={times} end={end} />
          {pointed !== undefined && (
            <rect
              className="chart-pointed"
              x={drawing.x(pointed)}
              y={TOP}
              width={drawing.step}
              height={drawing.floor - TOP}
            />
          )}
          {children(drawing)}
        </svg>
        <div
          className="chart-told"
          aria-live="polite"
          hidden={pointed === undefined}
          style={placed(pointed, drawing, width)}
        >
          {pointed !== undefined && (
            <>
              <b>{times[pointed]}</b>
              {tell(pointed)}
            </>
          )}
        </div>
      </div>
    </figure>
  );
}

interface AxisProps {
  readonly marks: readonly number[];
  readonly axis: (value: number) => string;
  readonly drawing: Drawing;
  readonly left: number;
  readonly width: number;
  readonly times: readonly string[];
  readonly end?: string;
}

function Axis({ marks, axis, drawing, left, width, times, end }: AxisProps) {
  const t = useText();
  const last = times.length - 1;
  const named = [0, Math.round(last / 3), Math.round((2 * last) / 3)];
  return (
    <g className="axis">
      {marks.map((mark) => (
        <g key={mark}>
          <line x1={left} x2={width - RIGHT} y1={drawing.y(mark)} y2={drawing.y(mark)} />
          <text x={left - 8} y={drawing.y(mark) + 4} textAnchor="end">
            {axis(mark)}
          </text>
        </g>
      ))}
      {named.map((index) => (
        <text key={index} x={drawing.x(index)} y={HEIGHT - 6}>
          {times[index]}
        </text>
      ))}
      <text x={width - RIGHT} y={HEIGHT - 6} textAnchor="end">
        {end ?? t("monitoring.now")}
      </text>
    </g>
  );
}

function drawingOf(width: number, left: number, n: number, most: number): Drawing {
  const step = Math.max(width - left - RIGHT, 1) / n;
  const floor = HEIGHT - BOTTOM;
  return {
    step,
    floor,
    x: (index) => left + index * step,
    y: (value) => floor - (value / most) * (floor - TOP),
  };
}

/** Beside the minute that is told about, on the side where there is room. */
function placed(index: number | undefined, drawing: Drawing, width: number): React.CSSProperties {
  if (index === undefined) return {};
  const x = drawing.x(index);
  return x > width / 2 ? { right: width - x + 8 } : { left: x + drawing.step + 8 };
}

/** Returns about how wide a text of the axis is: the signs of Chinese are as wide as they are high. */
function widthOf(text: string): number {
  return [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 11.5 : 6.8), 0);
}

function clamped(index: number, n: number): number {
  return Math.max(0, Math.min(index, n - 1));
}

/** The width that the page leaves for a chart, so that its text is never stretched. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(480);
  useEffect(() => {
    if (!box.current) return undefined;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}
