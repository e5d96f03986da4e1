import type { ReactNode } from "react";
import type { Schemas } from "../api/client";

export type Project = Schemas["ProjectOut"];

export interface OfProjectsProps {
  readonly projects: readonly Project[];
  readonly value: readonly string[];
  readonly onChoose: (value: string[]) => void;
}

/** What is chosen as one text, which is cut where it is too long: "+ 2" would not tell what. */
export const SHORT = {
  maxTagCount: 0,
  maxTagPlaceholder: (chosen: readonly { readonly label?: ReactNode; readonly value?: unknown }[]) => (
    <span className="filter-chosen">{chosen.map((one) => String(one.label ?? one.value)).join(", ")}</span>
  ),
};
