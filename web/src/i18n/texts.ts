/** A translation of texts: the compiler asks for each key. */
export type Translated<English> = { readonly [Key in keyof English]: string };

/** The texts of one part of the page, the same keys in each language. */
export interface Texts<English extends Record<string, string>> {
  readonly en: English;
  readonly zh: Translated<English>;
}

/** Returns texts of which the compiler has checked that none lacks its translation. */
export function texts<const English extends Record<string, string>>(
  en: English,
  zh: Translated<English>,
): Texts<English> {
  return { en, zh };
}

export type Values = Readonly<Record<string, string | number>>;

/**
 * Puts values into a text: `{n}` becomes the value of that name, `{n|file|files}` the word that fits the number.
 * Numbers are written as the language does.
 */
export function fill(text: string, values: Values = {}, language = "en"): string {
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, other?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (one !== undefined && other !== undefined) return value === 1 ? one : other;
    return typeof value === "number" ? new Intl.NumberFormat(language).format(value) : value;
  });
}
