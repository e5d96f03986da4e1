import { Drawer } from "antd";
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Loading, Trouble } from "../parts";
import { withMessages } from "../with-messages";
import { Head, type Side } from "./head";
import { LineHistory } from "./line-history";
import { Outline } from "./outline";
import { PictureFile } from "./picture";
import { isPhoto, isPicture } from "./picture-names";
import { type Place, usePlaces } from "./place";
import { Shown } from "./shown";
import { Tree } from "./tree";
import { Uses } from "./uses";
import { useIsNarrow, usePaneWidth } from "./width";
import { useSwitches } from "./switches";
import { type Window, windowAround } from "./window";
import "./viewer.css";

export interface CodeViewerProps extends Place {
  readonly onClose: () => void;
}

/** The code of a place: beside the page where there is room, else over it. */
function CodeViewer({ onClose, ...place }: CodeViewerProps) {
  const t = useText();
  const isNarrow = useIsNarrow();
  const { width, handle } = usePaneWidth();
  useFocusBack();
  if (isNarrow) {
    return (
      <Drawer
        open
        size="100%"
        placement="right"
        closable={false}
        onClose={onClose}
        title={null}
        aria-label={t("viewer.title")}
        styles={{ body: { padding: 0 } }}
      >
        <Viewer place={place} onClose={onClose} />
      </Drawer>
    );
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.defaultPrevented) onClose();
  };
  return (
    <aside className="viewer-pane" aria-label={t("viewer.title")} style={{ width }} onKeyDown={onKeyDown}>
      <div {...handle} className="viewer-handle" role="separator" tabIndex={0} aria-label={t("viewer.width")} />
      <Viewer place={place} onClose={onClose} />
    </aside>
  );
}

function Viewer({ place, onClose }: { readonly place: Place; readonly onClose: () => void }) {
  const { open } = usePlaces();
  const [side, setSide] = useState<Side>("none");
  const [target, setTarget] = useState("");
  const [lines, setLines] = useState<Window>();
  const switches = useSwitches(place);
  const { projectId, path } = place;
  const around = windowAround(place);
  const lineQuery = { project_id: projectId, path, start_line: around.startLine, end_line: around.endLine };
  const file = useLoad(
    (signal) => (isPhoto(path) ? Promise.resolve(undefined) : get<Schemas["FileLinesOut"]>("/file", lineQuery, signal)),
    [projectId, path, around.startLine],
  );
  const onLines = useCallback(
    (startLine: number, endLine: number) => open({ projectId, path, startLine, endLine }, { replace: true }),
    [open, projectId, path],
  );
  const onUses = useCallback((name: string) => {
    setTarget(name);
    setSide("uses");
  }, []);
  const onHistory = useCallback((startLine: number, endLine: number) => {
    setLines({ startLine, endLine });
    setSide("history");
  }, []);
  const onSide = (next: Side) => (setTarget(""), setSide(next));
  const focusBefore = useRef<Element | null>(null);
  useEffect(() => {
    focusBefore.current = document.activeElement;
    // The history of lines of another file.
    setSide((before) => (before === "history" ? "none" : before));
  }, [projectId, path]);
  const isThere = file.value?.path === path && file.value.project_id === projectId;
  const { isRendered, isBlamed, offered } = switches(isThere ? file.value : undefined);
  // A drawing that a program has written is in no index, and can be looked at all the same.
  const isPictureAlone = isPhoto(path) || (isPicture(path) && file.problem !== undefined);
  return (
    <div className="viewer">
      <Head
        place={place}
        file={isThere ? file.value : undefined}
        side={side}
        switches={offered}
        onSide={onSide}
        onClose={onClose}
      />
      <div className="viewer-body" data-side={side}>
        {side !== "none" && (
          <div className="viewer-side">
            {side === "files" && (
              <Tree projectId={projectId} path={path} onOpen={(path) => open({ projectId, path })} />
            )}
            {side === "outline" && <Outline {...{ projectId, path, onLines }} line={place.startLine} />}
            {side === "uses" && <Uses projectId={projectId} target={target || targetAt(place)} />}
            {side === "history" && lines && <LineHistory projectId={projectId} path={path} {...lines} />}
          </div>
        )}
        <div className="viewer-code">
          {isPictureAlone && <PictureFile projectId={projectId} path={path} />}
          {file.problem && !isPictureAlone && <Trouble problem={file.problem} onRetry={file.reload} />}
          {!isThere && !file.problem && !isPictureAlone && <Loading />}
          {isThere && file.value && !file.problem && (
            <Shown
              file={file.value}
              place={place}
              isRendered={isRendered}
              isBlamed={isBlamed}
              focusBefore={focusBefore}
              onLines={onLines}
              onUses={onUses}
              onHistory={onHistory}
            />
          )}
        </div>
      </div>
    </div>
  );
}

function targetAt({ path, startLine }: Place): string {
  return startLine ? `${path}:${startLine}` : path;
}

/** Gives the keyboard back to where it was when the viewer was opened. */
function useFocusBack(): void {
  const before = useRef<Element | null>(document.activeElement);
  useEffect(
    () => () => {
      if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
    },
    [],
  );
}

export default withMessages(CodeViewer);
