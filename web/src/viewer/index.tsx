import { CloseOutlined, CopyOutlined, FolderOpenOutlined, UnorderedListOutlined } from "@ant-design/icons";
import { App, Button, Drawer, Tooltip } from "antd";
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Loading, Trouble } from "../parts";
import { Code, type CodeProps } from "./code";
import { Outline } from "./outline";
import { linesOf, type Place, usePlaces, writtenPlace } from "./place";
import { PROSE } from "./prose";
import { Tree } from "./tree";
import { useIsNarrow, usePaneWidth } from "./width";
import { windowAround } from "./window";
import "./viewer.css";

export interface CodeViewerProps extends Place {
  readonly onClose: () => void;
}

type Side = "files" | "outline" | "none";

/** The code of a place: beside the page where there is room, else over it. */
export default function CodeViewer({ onClose, ...place }: CodeViewerProps) {
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
  const { projectId, path } = place;
  const shown = windowAround(place);
  const file = useLoad(
    (signal) =>
      get<Schemas["FileLinesOut"]>(
        "/file",
        { project_id: projectId, path, start_line: shown.startLine, end_line: shown.endLine },
        signal,
      ),
    [projectId, path, shown.startLine],
  );
  const onLines = useCallback(
    (startLine: number, endLine: number) => open({ projectId, path, startLine, endLine }, { replace: true }),
    [open, projectId, path],
  );
  const focusBefore = useRef<Element | null>(null);
  useEffect(() => {
    focusBefore.current = document.activeElement;
  }, [projectId, path]);
  const isThere = file.value?.path === path && file.value.project_id === projectId;
  return (
    <div className="viewer">
      <Head place={place} file={isThere ? file.value : undefined} side={side} onSide={setSide} onClose={onClose} />
      <div className="viewer-body" data-side={side}>
        {side !== "none" && (
          <div className="viewer-side">
            {side === "files" && (
              <Tree projectId={projectId} path={path} onOpen={(next) => open({ projectId, path: next })} />
            )}
            {side === "outline" && (
              <Outline projectId={projectId} path={path} line={place.startLine} onLines={onLines} />
            )}
          </div>
        )}
        <div className="viewer-code">
          {file.problem && <Trouble problem={file.problem} onRetry={file.reload} />}
          {!isThere && !file.problem && <Loading />}
          {isThere && file.value && !file.problem && (
            <Shown file={file.value} place={place} focusBefore={focusBefore} onLines={onLines} />
          )}
        </div>
      </div>
    </div>
  );
}

type ShownProps = Omit<CodeProps, "wraps">;

function Shown({ file, place, focusBefore, onLines }: ShownProps) {
  const t = useText();
  const isPart = file.start_line > 1 || file.end_line < file.n_lines;
  // Prose has lines that nobody wants to follow sideways.
  const wraps = PROSE.has(file.language);
  return (
    <>
      {isPart && (
        <p className="viewer-note">
          {t("viewer.long", { from: file.start_line, to: file.end_line, n: file.n_lines })}{" "}
          {file.end_line < file.n_lines && (
            <Button size="small" onClick={() => onLines(file.end_line + 1, file.end_line + 1)}>
              {t("viewer.further")}
            </Button>
          )}
        </p>
      )}
      <Code file={file} place={place} wraps={wraps} focusBefore={focusBefore} onLines={onLines} />
    </>
  );
}

interface HeadProps {
  readonly place: Place;
  readonly file: Schemas["FileLinesOut"] | undefined;
  readonly side: Side;
  readonly onSide: (side: Side) => void;
  readonly onClose: () => void;
}

function Head({ place, file, side, onSide, onClose }: HeadProps) {
  const t = useText();
  const cut = place.path.lastIndexOf("/") + 1;
  const sides = [
    { name: "files" as const, label: t("viewer.files"), icon: <FolderOpenOutlined /> },
    { name: "outline" as const, label: t("viewer.outline"), icon: <UnorderedListOutlined /> },
  ];
  return (
    <header className="viewer-head">
      <div className="viewer-path" title={`${place.projectId}: ${place.path}`}>
        <span className="viewer-folder">
          {place.projectId} / {place.path.slice(0, cut)}
        </span>
        <strong>{place.path.slice(cut)}</strong>
        {place.startLine && <span className="viewer-lines">{linesOf(place)}</span>}
        {file && <span className="viewer-size">{t("viewer.lines", { n: file.n_lines })}</span>}
      </div>
      <div className="viewer-buttons">
        {sides.map((item) => (
          <Tooltip key={item.name} title={item.label}>
            <Button
              type={side === item.name ? "primary" : "text"}
              ghost={side === item.name}
              icon={item.icon}
              aria-label={item.label}
              aria-pressed={side === item.name}
              onClick={() => onSide(side === item.name ? "none" : item.name)}
            />
          </Tooltip>
        ))}
        <CopyButton place={place} />
        <Tooltip title={t("viewer.close")}>
          <Button type="text" icon={<CloseOutlined />} aria-label={t("viewer.close")} onClick={onClose} />
        </Tooltip>
      </div>
    </header>
  );
}

function CopyButton({ place }: { readonly place: Place }) {
  const t = useText();
  const { message } = App.useApp();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(writtenPlace(place));
      void message.success(t("viewer.copied"));
    } catch {
      // Pages that are not served over https, other than from this machine, may not write to the clipboard.
      void message.info(writtenPlace(place), 8);
    }
  };
  return (
    <Tooltip title={t("viewer.copy")}>
      <Button type="text" icon={<CopyOutlined />} aria-label={t("viewer.copy")} onClick={() => void copy()} />
    </Tooltip>
  );
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
