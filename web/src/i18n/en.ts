import { chatText } from "../chat/text";
import { monitoringText } from "../monitoring/text";
import { peopleText } from "../people/text";
import { projectsText } from "../projects/text";
import { searchText } from "../search/text";
import { viewerText } from "../viewer/text";
import { serverText } from "./server-text";
import { shellText } from "./shell-text";

/** Every text of the page in English. The texts of a page stand beside it: in its `text.ts`, in Chinese in its `text-zh.ts`. */
export const en = {
  ...shellText,
  ...serverText,
  ...chatText,
  ...searchText,
  ...projectsText,
  ...monitoringText,
  ...peopleText,
  ...viewerText,
};

export type Key = keyof typeof en;
