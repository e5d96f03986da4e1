/** When something was, as a list of conversations has it. */
export type When = "today" | "yesterday" | "week" | "older";

export interface Group<Item> {
  readonly when: When;
  readonly items: readonly Item[];
}

const DAY_S = 86_400;

/** Groups what was changed lately by days, in the order in which it comes. Times are seconds since the epoch. */
export function grouped<Item extends { readonly changed_at: number }>(
  items: readonly Item[],
  now: Date = new Date(),
): Group<Item>[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime() / 1000;
  const groups: { when: When; items: Item[] }[] = [];
  for (const item of items) {
    const when = whenOf(item.changed_at, midnight);
    const last = groups.at(-1);
    if (last?.when === when) last.items.push(item);
    else groups.push({ when, items: [item] });
  }
  return groups;
}

function whenOf(at: number, midnight: number): When {
  if (at >= midnight) return "today";
  if (at >= midnight - DAY_S) return "yesterday";
  return at >= midnight - 6 * DAY_S ? "week" : "older";
}

/** Returns a name of a file that any system takes. */
export function fileName(title: string, ending: string): string {
  const name = title
    .replace(/[\p{Cc}\\/:*?"<>|]+/gu, " ")
    .replace(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "")
    .slice(0, 80)
    .trim();
  return `${name || "conversation"}.${ending}`;
}
