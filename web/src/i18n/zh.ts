import { chatTextZh } from "../chat/text-zh";
import { monitoringTextZh } from "../monitoring/text-zh";
import { peopleTextZh } from "../people/text-zh";
import { projectsTextZh } from "../projects/text-zh";
import { searchTextZh } from "../search/text-zh";
import { viewerTextZh } from "../viewer/text-zh";
import type { Key } from "./en";
import { serverTextZh } from "./server-text-zh";
import { shellTextZh } from "./shell-text-zh";

/** Every text of the page in Chinese; loaded by `words.ts` when the page is Chinese. */
export const zh: Readonly<Record<Key, string>> = {
  ...shellTextZh,
  ...serverTextZh,
  ...chatTextZh,
  ...searchTextZh,
  ...projectsTextZh,
  ...monitoringTextZh,
  ...peopleTextZh,
  ...viewerTextZh,
};
