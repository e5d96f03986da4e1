import { CloseOutlined, LoadingOutlined, SearchOutlined } from "@ant-design/icons";
import { type ChangeEvent, type KeyboardEvent, type Ref, useEffect } from "react";
import { useText } from "../i18n";

const MOST_ROWS = 8;

interface BoxProps {
  readonly text: string;
  readonly loading: boolean;
  readonly field: Ref<HTMLTextAreaElement>;
  readonly onType: (text: string, options?: { readonly isComposing?: boolean }) => void;
  readonly onEnter: () => void;
  readonly onDown: () => void;
}

/** Where the question is typed. Several lines are kept as they are: a stack trace is a question too. */
export function Box({ text, loading, field, onType, onEnter, onDown }: BoxProps) {
  const t = useText();
  const onChange = (event: ChangeEvent<HTMLTextAreaElement>) => {
    const { isComposing = false } = event.nativeEvent as InputEvent;
    onType(event.target.value, { isComposing });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      onEnter();
    } else if (event.key === "ArrowDown" && isOnLastLine(event.currentTarget)) {
      event.preventDefault();
      onDown();
    }
  };
  return (
    <search className="box">
      <span className="box-icon" aria-hidden>
        {loading ? <LoadingOutlined /> : <SearchOutlined />}
      </span>
      <textarea
        ref={field}
        rows={Math.min(text.split("\n").length, MOST_ROWS)}
        value={text}
        aria-label={t("search.box")}
        aria-keyshortcuts="/"
        placeholder={t("search.placeholder")}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={onChange}
        onCompositionEnd={(event) => onType(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {text ? (
        <button type="button" className="box-clear" aria-label={t("search.clear")} onClick={() => onType("")}>
          <CloseOutlined />
        </button>
      ) : (
        <kbd className="box-key" aria-hidden>
          /
        </kbd>
      )}
    </search>
  );
}

/** Calls `focus` when `/` is pressed anywhere but where something is typed. */
export function useSlash(focus: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const isTyping = target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      focus();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [focus]);
}

function isOnLastLine(field: HTMLTextAreaElement): boolean {
  return !field.value.slice(field.selectionEnd).includes("\n");
}
