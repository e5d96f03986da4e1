import { lazy, Suspense, useLayoutEffect, useState } from "react";
import { useText } from "../i18n";
import { Boundary } from "../parts";
import type { Choice } from "../theme";

// What it takes to find something is loaded when it is opened for the first time.
const Finder = lazy(() => import("."));

/** Opens the dialog that finds everything: by this button, or by Ctrl+K anywhere on the page. */
export function FindButton({ onTheme }: { readonly onTheme: (choice: Choice) => void }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  // The key works as soon as the button is seen.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isIt =
        (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k";
      // Another dialog keeps the keyboard until it is closed.
      if (!isIt || document.querySelector(".ant-modal, .ant-drawer-open [aria-modal=true]")?.checkVisibility()) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  return (
    <>
      <button type="button" className="find-button" aria-keyshortcuts="Control+K Meta+K" onClick={() => setOpen(true)}>
        <span>{t("shell.find")}</span>
        <kbd aria-hidden>{/Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      {isOpen && (
        <Boundary instead={null}>
          <Suspense fallback={null}>
            <Finder onTheme={onTheme} onClose={() => setOpen(false)} />
          </Suspense>
        </Boundary>
      )}
    </>
  );
}
