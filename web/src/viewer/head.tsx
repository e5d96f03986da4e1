import {
  CloseOutlined,
  CopyOutlined,
  FolderOpenOutlined,
  NodeIndexOutlined,
  UnorderedListOutlined,
} from "@ant-design/icons";
import { App, Button, Dropdown, Tooltip } from "antd";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { linesOf, type Place, writtenPlace } from "./place";

export type Side = "files" | "outline" | "uses" | "none";

interface HeadProps {
  readonly place: Place;
  readonly file: Schemas["FileLinesOut"] | undefined;
  readonly side: Side;
  readonly onSide: (side: Side) => void;
  readonly onClose: () => void;
}

export function Head({ place, file, side, onSide, onClose }: HeadProps) {
  const t = useText();
  const cut = place.path.lastIndexOf("/") + 1;
  const sides: readonly { readonly name: Side; readonly label: string; readonly icon: ReactNode }[] = [
    { name: "files", label: t("viewer.files"), icon: <FolderOpenOutlined /> },
    { name: "outline", label: t("viewer.outline"), icon: <UnorderedListOutlined /> },
    { name: "uses", label: t("viewer.uses"), icon: <NodeIndexOutlined /> },
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
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      void message.success(t("viewer.copied"));
    } catch {
      // Pages that are not served over https, other than from this machine, may not write to the clipboard.
      void message.info(text, 8);
    }
  };
  const items = [
    { key: "place", label: t("viewer.copy.place"), onClick: () => void copy(writtenPlace(place)) },
    {
      key: "project",
      label: t("viewer.copy.project"),
      onClick: () => void copy(`${place.projectId}/${writtenPlace(place)}`),
    },
    { key: "link", label: t("viewer.copy.link"), onClick: () => void copy(window.location.href) },
  ];
  return (
    <Dropdown menu={{ items }} trigger={["click"]}>
      <Button type="text" icon={<CopyOutlined />} aria-label={t("viewer.copy")} title={t("viewer.copy")} />
    </Dropdown>
  );
}
