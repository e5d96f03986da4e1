import { Select } from "antd";
import { useState } from "react";
import { get, type Schemas } from "../api/client";
import { useText } from "../i18n";
import { folderBefore } from "./facets";
import { type OfProjectsProps, type Project, SHORT } from "./filter-parts";

/** Offers the folders of the projects, one step at a time: what lies in `src` when `src/` is typed. */
export function FolderFilter({ projects, value, onChoose }: OfProjectsProps) {
  const t = useText();
  const [folders, setFolders] = useState<readonly string[]>([]);
  const look = (text: string) => {
    const inside = folderBefore(text);
    void foldersIn(projects, inside).then((found) =>
      setFolders((before) => [...new Set([...before.filter((path) => !found.includes(path)), ...found])].sort()),
    );
  };
  return (
    <Select
      mode="tags"
      className="filter"
      aria-label={t("search.folder")}
      placeholder={t("search.folder")}
      title={t("search.folder.hint")}
      {...SHORT}
      popupMatchSelectWidth={false}
      allowClear
      tokenSeparators={[","]}
      value={[...value]}
      onOpenChange={(isOpen) => isOpen && look("")}
      showSearch={{ onSearch: look }}
      onChange={(chosen: string[]) =>
        onChoose(chosen.map((path) => path.trim().replace(/^\/+|\/+$/g, "")).filter(Boolean))
      }
      options={folders.map((path) => ({ value: path, label: path }))}
    />
  );
}

const MOST_PROJECTS = 6;

async function foldersIn(projects: readonly Project[], folder: string): Promise<string[]> {
  const indexed = projects.filter((project) => project.generation > 0).slice(0, MOST_PROJECTS);
  const trees = await Promise.all(
    indexed.map((project) =>
      get<Schemas["TreeOut"]>("/file-tree", { project_id: project.id, folder }).catch(() => null),
    ),
  );
  return trees.flatMap((tree) => (tree?.entries ?? []).filter((entry) => entry.is_folder).map((entry) => entry.path));
}
