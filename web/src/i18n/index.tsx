import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { remembered, remember } from "../remembered";
import { en, type Key } from "./en";
import { fill, type Texts, type Values } from "./texts";
import { chineseWords, loadWords } from "./words";

export type Language = "en" | "zh";
export type { Key };
export type Text = (key: Key, values?: Values) => string;

export const LANGUAGES: readonly { readonly code: Language; readonly name: string }[] = [
  { code: "en", name: "English" },
  { code: "zh", name: "中文" },
];

interface Chosen {
  /** The language that is shown: its words are loaded. */
  readonly language: Language;
  /** The language that was chosen last, whose words may still be on their way. */
  readonly wanted: Language;
  readonly choose: (language: Language) => void;
}

const Context = createContext<Chosen>({ language: "en", wanted: "en", choose: () => undefined });

/** Gives all below it the language: the one that was chosen, else the one the browser asks for. */
export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [wanted, setWanted] = useState<Language>(() => ofBrowser(remembered("language"), navigator.languages));
  const language = useLoaded(
    wanted,
    useCallback(() => setWanted("en"), []),
  );
  const choose = useCallback((chosen: Language) => {
    remember("language", chosen);
    setWanted(chosen);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  }, [language]);
  const value = useMemo(() => language && { language, wanted, choose }, [language, wanted, choose]);
  return value && <Context.Provider value={value}>{children}</Context.Provider>;
}

/** Returns the wanted language once its words are loaded, before that the last one. */
function useLoaded(wanted: Language, onFailed: () => void): Language | undefined {
  const [loaded, setLoaded] = useState<Language | undefined>(wanted === "en" ? "en" : undefined);
  useEffect(() => {
    let isCurrent = true;
    loadWords(wanted).then(
      () => isCurrent && setLoaded(wanted),
      () => isCurrent && onFailed(),
    );
    return () => {
      isCurrent = false;
    };
  }, [wanted, onFailed]);
  return loaded;
}

/** Returns the chosen language if there is one, else the first that the browser asks for and we have. */
export function ofBrowser(chosen: string, wanted: readonly string[]): Language {
  const found = [chosen, ...wanted].map((tag) => tag.toLowerCase().split("-")[0]);
  return found.find((code): code is Language => code === "en" || code === "zh") ?? "en";
}

export function useLanguage(): Chosen {
  return useContext(Context);
}

/** Returns `t`, which gives the text of a key in the language of the page. */
export function useText(): Text {
  const { language } = useContext(Context);
  return useCallback((key: Key, values?: Values) => fill(textsOf(language)[key], values, language), [language]);
}

function textsOf(language: Language): Readonly<Record<Key, string>> {
  return (language === "zh" && chineseWords()?.texts) || en;
}

/** The same for texts that are loaded with the part of the page that shows them. */
export function useTexts<English extends Record<string, string>>({ en, zh }: Texts<English>) {
  const { language } = useContext(Context);
  return useCallback(
    (key: keyof English & string, values?: Values) => fill((language === "zh" ? zh : en)[key] ?? "", values, language),
    [language, en, zh],
  );
}
