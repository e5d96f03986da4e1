import { useMemo } from "react";
import { useNavigate } from "react-router";
import { LANGUAGES, useLanguage, useText, useTexts } from "../i18n";
import { useMenuPages } from "../pages";
import { useIsKept } from "../session";
import type { Choice } from "../theme";
import type { Group, Item } from "./matching";
import { findText } from "./text";

const THEMES: readonly Choice[] = ["light", "dark", "system"];

/** Pages, and what can be done from everywhere; only what the caller may. */
export function useActions(onTheme: (choice: Choice) => void): readonly Group[] {
  const t = useTexts(findText);
  const ofPage = useText();
  const navigate = useNavigate();
  const pages = useMenuPages();
  const isKept = useIsKept();
  const { choose } = useLanguage();
  return useMemo(() => {
    const to = (key: string, label: string, address: string): Item => ({
      key,
      label,
      open: () => void navigate(address),
    });
    const actions = [
      ...(isKept ? [] : [to("add", t("add"), "/projects?add")]),
      to("new", t("new"), "/chat"),
      ...THEMES.map((choice) => ({ key: choice, label: t(`theme.${choice}`), open: () => onTheme(choice) })),
      ...LANGUAGES.map(({ code, name }) => ({ key: code, label: name, open: () => choose(code) })),
    ];
    return [
      { name: "pages", items: pages.map(({ path, name }) => to(path, ofPage(name), path)) },
      { name: "actions", items: actions },
    ];
  }, [t, ofPage, navigate, pages, isKept, choose, onTheme]);
}
