/** Something that can be found and opened. */
export interface Item {
  readonly key: string;
  readonly label: string;
  /** What tells it from others of its name: a folder, a place. */
  readonly more?: string;
  readonly open: () => void;
}

export interface Group {
  readonly name: "projects" | "pages" | "files" | "symbols" | "questions" | "actions";
  readonly items: readonly Item[];
}

export const MOST_IN_GROUP = 8;

/** Returns the items that have all words of a text, those first whose label begins with it; at most eight. */
export function matching(items: readonly Item[], text: string): readonly Item[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const found = items.filter(({ label, more = "" }) => {
    const all = `${label} ${more}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const isFirst = ({ label }: Item) => label.toLowerCase().startsWith(wanted);
  return [...found.filter(isFirst), ...found.filter((item) => !isFirst(item))].slice(0, MOST_IN_GROUP);
}

/** Returns the question of the language of filters for files of this name or path; "" if nothing is left of it. */
export function questionForFiles(text: string): string {
  const name = text.replaceAll(/["\\]/g, " ").trim();
  return name && `${name.includes("/") ? "path" : "name"}:"${name}"`;
}
