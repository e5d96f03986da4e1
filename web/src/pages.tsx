import {
  AreaChartOutlined,
  FolderOpenOutlined,
  MessageOutlined,
  SearchOutlined,
  TeamOutlined,
} from "@ant-design/icons";
import type { ReactNode } from "react";
import type { Key } from "./i18n";
import { useIsKept } from "./session";

interface MenuPage {
  readonly path: string;
  readonly name: Key;
  readonly icon: ReactNode;
}

/** Pages about the whole server, which only its administrators may see. */
const OF_SERVER: ReadonlySet<string> = new Set(["/monitoring", "/people"]);

const PAGES: readonly MenuPage[] = [
  { path: "/search", name: "shell.search", icon: <SearchOutlined aria-hidden /> },
  { path: "/chat", name: "shell.chat", icon: <MessageOutlined aria-hidden /> },
  { path: "/projects", name: "shell.projects", icon: <FolderOpenOutlined aria-hidden /> },
  { path: "/monitoring", name: "shell.monitoring", icon: <AreaChartOutlined aria-hidden /> },
  { path: "/people", name: "shell.people", icon: <TeamOutlined aria-hidden /> },
];

/** Returns the pages that the caller may see. */
export function useMenuPages(): readonly MenuPage[] {
  return useIsKept() ? PAGES.filter(({ path }) => !OF_SERVER.has(path)) : PAGES;
}
