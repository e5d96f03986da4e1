import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { useTexts } from "../i18n";
import { useTold } from "../i18n/said";
import type { Choice } from "../theme";
import { useActions } from "./actions";
import { useKnown, useNamed } from "./found";
import { type Group, type Item, matching } from "./matching";
import { findText } from "./text";
import "./find.css";

interface FinderProps {
  readonly onTheme: (choice: Choice) => void;
  readonly onClose: () => void;
}

/** One dialog that finds projects, pages, files, symbols, questions and actions: a list that belongs to a text field. */
export default function Finder({ onTheme, onClose }: FinderProps) {
  const t = useTexts(findText);
  const told = useTold();
  const [text, setText] = useState("");
  const { groups, items, problem, loading } = useFound(text, onTheme);
  const [key, setKey] = useState("");
  const chosen = Math.max(
    items.findIndex((item) => item.key === key),
    0,
  );
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close(); // gives the focus back, while the dialog is still there
  }, []);
  const open = (item: Item | undefined) => {
    if (!item) return;
    onClose();
    item.open();
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter") open(items[chosen]);
    else if (step) setKey(items[(chosen + step + items.length) % items.length]?.key ?? "");
    else return;
    event.preventDefault();
  };
  const said = loading ? t("searching") : items.length ? t("count", { n: items.length }) : t("nothing");
  return (
    <dialog
      ref={dialog}
      className="find"
      aria-label={t("title")}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="find-box">
        <input
          role="combobox"
          className="find-text"
          aria-label={t("label")}
          placeholder={t("label")}
          aria-expanded={items.length > 0}
          aria-controls="find-list"
          aria-autocomplete="list"
          aria-activedescendant={items.length ? `find-${chosen}` : undefined}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setKey("");
          }}
          onKeyDown={press}
        />
        <FoundList groups={groups} items={items} chosen={chosen} onOpen={open} />
        <div className="find-foot">
          <span role="status">
            {problem ? t("failed", { why: [told(problem).title, problem.hint].filter(Boolean).join(": ") }) : said}
          </span>
          <span className="find-keys">{t("keys")}</span>
        </div>
      </div>
    </dialog>
  );
}

interface FoundListProps {
  readonly groups: readonly Group[];
  readonly items: readonly Item[];
  readonly chosen: number;
  readonly onOpen: (item: Item) => void;
}

/** What is found, in groups; the chosen one stays in view. */
function FoundList({ groups, items, chosen, onOpen }: FoundListProps) {
  const t = useTexts(findText);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [items, chosen]);
  return (
    <div ref={list} id="find-list" role="listbox" aria-label={t("results")} className="find-list">
      {groups.map(({ name, items: listed }) => (
        <div key={name} role="group" aria-labelledby={`find-of-${name}`}>
          <div id={`find-of-${name}`} role="presentation" className="find-group">
            {t(name)}
          </div>
          {listed.map((item) => (
            <Option key={item.key} item={item} place={items.indexOf(item)} chosen={chosen} onOpen={onOpen} />
          ))}
        </div>
      ))}
    </div>
  );
}

/** All that is found, in groups, and as one list for the keys. */
function useFound(text: string, onTheme: (choice: Choice) => void) {
  const t = useTexts(findText);
  const navigate = useNavigate();
  const known = useKnown();
  const named = useNamed(text, known.names);
  const actions = useActions(onTheme);
  const { problem, loading } = named;
  return useMemo(() => {
    const wanted = text.trim();
    const search: Item = {
      key: "search",
      label: t("search", { text: wanted }),
      open: () => void navigate(`/search?q=${encodeURIComponent(wanted)}`),
    };
    const fixed = [...known.groups, ...actions].map((group) => ({ ...group, items: matching(group.items, text) }));
    const by = new Map<string, Group>([...fixed, ...(wanted ? (named.value ?? []) : [])].map((one) => [one.name, one]));
    if (wanted) by.set("actions", { name: "actions", items: [...(by.get("actions")?.items ?? []), search] });
    const groups = ORDER.flatMap((name) => by.get(name) ?? []).filter((group) => group.items.length > 0);
    return { groups, items: groups.flatMap((group) => group.items), problem, loading };
  }, [text, known, named.value, actions, problem, loading, t, navigate]);
}

const ORDER: readonly Group["name"][] = ["projects", "pages", "files", "symbols", "questions", "actions"];

interface OptionProps {
  readonly item: Item;
  readonly place: number;
  readonly chosen: number;
  readonly onOpen: (item: Item) => void;
}

function Option({ item, place, chosen, onOpen }: OptionProps) {
  return (
    <div
      id={`find-${place}`}
      role="option"
      aria-selected={place === chosen}
      className="find-option"
      // The text field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onOpen(item)}
    >
      <span className="find-label">{item.label}</span>
      {item.more && <span className="find-more">{item.more}</span>}
    </div>
  );
}
