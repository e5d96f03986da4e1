/** What the details of a project are about. */
export const TABS = ["left-out", "settings", "store", "history"] as const;
export type Tab = (typeof TABS)[number];

export function isTab(text: string): text is Tab {
  return TABS.some((tab) => tab === text);
}
