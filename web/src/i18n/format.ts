import { useLanguage } from ".";

/** Numbers, sizes and times as a language writes them. */
export interface Format {
  number: (value: number, digits?: number) => string;
  percent: (share: number) => string;
  bytes: (value: number) => string;
  duration: (seconds: number) => string;
  milliseconds: (value: number) => string;
  time: (at: number) => string;
  date: (at: number) => string;
  ago: (at: number, now?: number) => string;
}

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
const AGO: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

// What `Intl` says for "now" is an order before a verb: "index now".
const JUST_NOW: Readonly<Record<string, string>> = { zh: "刚刚" };

// One for all that is shown: making a number format takes longer than a hundred uses of it.
const formats = new Map<string, Format>();

export function useFormat(): Format {
  const { language } = useLanguage();
  const format = formats.get(language) ?? formatOf(language);
  formats.set(language, format);
  return format;
}

/** Times are seconds since the epoch, as the server gives them. */
export function formatOf(language: string): Format {
  const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
  const unit = (value: number, name: string, digits: number) =>
    new Intl.NumberFormat(language, {
      style: "unit",
      unit: name,
      unitDisplay: name === "byte" ? "long" : "short",
      maximumFractionDigits: digits,
    }).format(value);
  return {
    number: (value, digits = 0) => new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value),
    percent: (share) => percent.format(share),
    bytes: (value) => {
      const power = value < 1 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), SIZES.length - 1);
      const shown = value / 1000 ** power;
      return unit(shown, SIZES[power] ?? "byte", shown < 10 && power ? 1 : 0);
    },
    duration: (seconds) => {
      if (seconds < 10) return unit(seconds, "second", 1);
      if (seconds < 100) return unit(seconds, "second", 0);
      if (seconds < 6_000) return unit(seconds / 60, "minute", 0);
      return unit(seconds / 3_600, "hour", 1);
    },
    milliseconds: (value) =>
      value < 1_000 ? unit(value, "millisecond", value < 10 ? 1 : 0) : unit(value / 1_000, "second", 1),
    time: (at) =>
      new Date(at * 1000).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
    date: (at) => new Date(at * 1000).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" }),
    ago: (at, now = Date.now() / 1000) => {
      const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
      const past = Math.max(now - at, 0);
      for (const [name, seconds] of AGO) {
        if (past >= seconds) return relative.format(-Math.floor(past / seconds), name);
      }
      return JUST_NOW[language] ?? relative.format(-0, "second");
    },
  };
}
