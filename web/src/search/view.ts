import { useState } from "react";
import { remember, remembered } from "../remembered";

/** Compact: the lines that tell most, many places on a screen; roomy: the lines around the best one. */
export const VIEWS = ["compact", "roomy"] as const;
export type View = (typeof VIEWS)[number];

export function useView(): readonly [View, (view: View) => void] {
  const [view, setView] = useState<View>(() => (remembered("search.view") === "roomy" ? "roomy" : "compact"));
  const choose = (next: View) => {
    remember("search.view", next === "compact" ? "" : next);
    setView(next);
  };
  return [view, choose];
}
