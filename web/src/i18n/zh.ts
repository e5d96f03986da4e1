import { chatText } from "../chat/text";
import { monitoringText } from "../monitoring/text";
import { peopleText } from "../people/text";
import { projectsText } from "../projects/text";
import { searchText } from "../search/text";
import { viewerText } from "../viewer/text";
import type { Key } from "./en";
import { serverText } from "./server-text";
import { shellText } from "./shell-text";

/** Every text of the page in Chinese. */
export const zh: Readonly<Record<Key, string>> = {
  ...shellText.zh,
  ...serverText.zh,
  ...chatText.zh,
  ...searchText.zh,
  ...projectsText.zh,
  ...monitoringText.zh,
  ...peopleText.zh,
  ...viewerText.zh,
};
