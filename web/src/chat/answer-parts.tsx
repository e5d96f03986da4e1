import { type ComponentProps, type ComponentType, lazy, useState } from "react";

interface Later<Props extends object> {
  readonly Part: ComponentType<Props>;
  readonly load: () => Promise<unknown>;
}

/** Returns a part that is loaded on demand, and shown at once where it has been: a lazy one waits even then. */
function later<Props extends object>(load: () => Promise<{ readonly default: ComponentType<Props> }>): Later<Props> {
  let Loaded: ComponentType<Props> | undefined;
  const kept = async () => {
    const loaded = await load();
    Loaded = loaded.default;
    return loaded;
  };
  const Lazy = lazy(kept) as unknown as ComponentType<Props>;
  // What was shown by one is not shown anew by the other: it keeps its folds.
  const Part = (props: Props) => {
    const [Chosen] = useState<ComponentType<Props>>(() => Loaded ?? Lazy);
    return <Chosen {...props} />;
  };
  return { Part, load: kept };
}

// Markdown is large, and a chat begins without an answer: it comes after the first picture.
const text = later<ComponentProps<typeof import("./answer-text").default>>(() => import("./answer-text"));
const end = later<ComponentProps<typeof import("./answer-end").default>>(() => import("./answer-end"));

export const AnswerText = text.Part;
export const AnswerEnd = end.Part;

/** Loads what shows an answer, so that none is shown as plain words first. */
export async function loadAnswerParts(): Promise<void> {
  // What cannot be loaded is said where it is needed.
  await Promise.allSettled([text.load(), end.load()]);
}
