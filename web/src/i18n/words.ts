import type { Language } from ".";

/** The page in Chinese: its texts, the words for notes of the server, and those of the library. */
type Chinese = typeof import("./chinese");

let chinese: Chinese | undefined;

/** Loads the words of a language. English is always there: it is loaded with the page. */
export async function loadWords(language: Language): Promise<void> {
  if (language === "zh") chinese ??= await import("./chinese");
}

/** The Chinese words once they are loaded; nothing is shown in Chinese before that. */
export function chineseWords(): Chinese | undefined {
  return chinese;
}
