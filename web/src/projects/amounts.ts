/** Guessed times, and shares of a whole, as a person reads them. */

import type { Format } from "../i18n/format";

/** What remains, no finer than a guess may be: 7.3 → "8 s", 100 → "2 min", 4000 → "1 hr 10 min". */
export function remainingText(seconds: number, language: string): string {
  const say = (value: number, unit: "second" | "minute" | "hour") =>
    new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short" }).format(value);
  if (seconds <= 10) return say(Math.max(Math.ceil(seconds), 1), "second");
  if (seconds <= 55) return say(Math.ceil(seconds / 5) * 5, "second");
  if (seconds < 3_570) return say(Math.max(Math.round(seconds / 60), 1), "minute");
  const tens = Math.round(seconds / 600) * 10;
  const hours = Math.floor(tens / 60);
  return tens % 60 ? `${say(hours, "hour")} ${say(tens % 60, "minute")}` : say(hours, "hour");
}

/** How long something took; what took next to no time took a millisecond. */
export function tookText(format: Format, seconds: number): string {
  return seconds < 1 ? format.milliseconds(Math.max(Math.round(seconds * 1000), 1)) : format.duration(seconds);
}

export interface Share {
  /** "" for all that are not named. */
  readonly name: string;
  readonly count: number;
  readonly percent: number;
}

/** The largest of some counts, and all others together. */
export function sharesOf(counts: Readonly<Record<string, number>>, most: number): readonly Share[] {
  const sorted = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0]));
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const rest = sorted.slice(most).reduce((sum, [, count]) => sum + count, 0);
  const shown = [...sorted.slice(0, most), ...(rest > 0 ? [["", rest] as const] : [])];
  return shown.map(([name, count]) => ({ name, count, percent: (100 * count) / total }));
}
