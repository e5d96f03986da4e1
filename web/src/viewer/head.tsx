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
import { isPhoto } from "./picture-names";
import { linesOf, type Place, writtenPlace } from "./place";

export type Side = "files" | "outline" | "uses" | "history" | "none";

/** Something of the code that is shown or not. */
export interface Switch {
  readonly label: string;
  readonly icon: ReactNode;
  readonly isOn: boolean;
  readonly onChange: () => void;
}

interface HeadProps {
  readonly place: Place;
  readonly file: Schemas["FileLinesOut"] | undefined;
  readonly side: Side;
  readonly switches: readonly Switch[];
  readonly onSide: (side: Side) => void;
  readonly onClose: () => void;
}

export function Head({ place, file, side, switches, onSide, onClose }: HeadProps) {
  const t = useText();
  const cut = place.path.lastIndexOf("/") + 1;
  const sides: readonly { readonly name: Side; readonly label: string; readonly icon: ReactNode }[] = [
    { name: "files", label: t("viewer.files"), icon: <FolderOpenOutlined /> },
    { name: "outline", label: t("viewer.outline"), icon: <UnorderedListOutlined /> },
    { name: "uses", label: t("viewer.uses"), icon: <NodeIndexOutlined /> },
  ];
  // A photo has no names.
  const offered = isPhoto(place.path) ? sides.slice(0, 1) : sides;
  return (
    <div className="viewer-head">
      <div className="viewer-path" title={`${place.projectId}: ${place.path}`}>
        <span className="viewer-folder">
          {place.projectId} / {place.path.slice(0, cut)}
        </span>
        <strong>{place.path.slice(cut)}</strong>
        {place.startLine && <span className="viewer-lines">{linesOf(place)}</span>}
        {file && <span className="viewer-size">{t("viewer.lines", { n: file.n_lines })}</span>}
      </div>
      <div className="viewer-buttons">
        {offered.map(({ name, ...item }) => (
          <SwitchButton
            key={name}
            {...item}
            isOn={side === name}
            onChange={() => onSide(side === name ? "none" : name)}
          />
        ))}
        {switches.map((item) => (
          <SwitchButton key={item.label} {...item} />
        ))}
        <CopyButton place={place} />
        <Tooltip title={t("viewer.close")}>
          <Button type="text" icon={<CloseOutlined />} aria-label={t("viewer.close")} onClick={onClose} />
        </Tooltip>
      </div>
    </div>
  );
}

function SwitchButton({ label, icon, isOn, onChange }: Switch) {
  return (
    <Tooltip title={label}>
      <Button
        type={isOn ? "primary" : "text"}
        ghost={isOn}
        icon={icon}
        aria-label={label}
        aria-pressed={isOn}
        onClick={onChange}
      />
    </Tooltip>
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
