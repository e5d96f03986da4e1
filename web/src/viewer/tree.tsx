import { CaretRightOutlined, FileOutlined, FolderOutlined, PictureOutlined } from "@ant-design/icons";
import { useEffect, useRef, useState } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { Trouble } from "../parts";
import { isPicture } from "./picture-names";

export interface TreeProps {
  readonly projectId: string;
  /** The file that is shown: the folders down to it are open. */
  readonly path: string;
  readonly onOpen: (path: string) => void;
}

/** The indexed files of a project; a folder is loaded when it is opened. */
export function Tree(props: TreeProps) {
  return (
    <div className="tree">
      <Folder {...props} folder="" />
    </div>
  );
}

function Folder({ folder, ...props }: TreeProps & { readonly folder: string }) {
  const { projectId } = props;
  const found = useLoad(
    (signal) => get<Schemas["TreeOut"]>("/file-tree", { project_id: projectId, folder }, signal),
    [projectId, folder],
  );
  if (found.problem) return <Trouble problem={found.problem} onRetry={found.reload} />;
  return (
    <ul>
      {found.value?.entries.map((entry) => (
        <li key={entry.path}>
          {entry.is_folder ? <Branch entry={entry} {...props} /> : <Leaf entry={entry} {...props} />}
        </li>
      ))}
    </ul>
  );
}

interface EntryProps extends TreeProps {
  readonly entry: Schemas["TreeEntryOut"];
}

function Branch({ entry, ...props }: EntryProps) {
  const holdsIt = props.path.startsWith(`${entry.path}/`);
  const [isOpen, setOpen] = useState(holdsIt);
  useEffect(() => {
    if (holdsIt) setOpen(true);
  }, [holdsIt]);
  return (
    <>
      <button type="button" className="tree-entry" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <CaretRightOutlined aria-hidden rotate={isOpen ? 90 : 0} />
        <FolderOutlined aria-hidden />
        <span>{entry.name}</span>
      </button>
      {isOpen && <Folder {...props} folder={entry.path} />}
    </>
  );
}

function Leaf({ entry, path, onOpen }: EntryProps) {
  const isShown = entry.path === path;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isShown) button.current?.scrollIntoView({ block: "nearest" });
  }, [isShown]);
  return (
    <button
      ref={button}
      type="button"
      className="tree-entry tree-file"
      aria-current={isShown || undefined}
      onClick={() => onOpen(entry.path)}
    >
      {isPicture(entry.path) ? <PictureOutlined aria-hidden /> : <FileOutlined aria-hidden />}
      <span>{entry.name}</span>
    </button>
  );
}
