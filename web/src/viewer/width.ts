import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { useMedia } from "../media";
import { remember, remembered } from "../remembered";

const LEAST = 360;
const LEFT_FOR_PAGE = 420;
const STEP = 40;

/** Whether the window is too narrow for a page and the viewer beside it. */
export const useIsNarrow = () => useMedia("(max-width: 1023px)");

/** Returns a width within what the window allows. */
export function within(width: number, windowWidth: number): number {
  return Math.round(Math.max(LEAST, Math.min(width, windowWidth - LEFT_FOR_PAGE)));
}

export interface PaneWidth {
  readonly width: number;
  /** Properties of the handle that changes the width: by dragging, or with the arrow keys. */
  readonly handle: {
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly "aria-valuenow": number;
    readonly "aria-valuemin": number;
    readonly "aria-valuemax": number;
    readonly "aria-orientation": "vertical";
  };
}

export function usePaneWidth(): PaneWidth {
  const [wanted, setWanted] = useState(() => Number(remembered("viewer-width")) || window.innerWidth * 0.46);
  const change = (next: number) => {
    const width = within(next, window.innerWidth);
    remember("viewer-width", `${width}`);
    setWanted(width);
  };
  const width = within(wanted, window.innerWidth);
  const onPointerDown = (event: PointerEvent) => {
    event.preventDefault();
    const move = (moved: globalThis.PointerEvent) => change(window.innerWidth - moved.clientX);
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", () => window.removeEventListener("pointermove", move), { once: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowLeft") change(width + STEP);
    if (event.key === "ArrowRight") change(width - STEP);
  };
  return {
    width,
    handle: {
      onPointerDown,
      onKeyDown,
      "aria-valuenow": width,
      "aria-valuemin": LEAST,
      "aria-valuemax": within(window.innerWidth, window.innerWidth),
      "aria-orientation": "vertical",
    },
  };
}
