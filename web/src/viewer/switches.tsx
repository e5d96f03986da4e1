import { CodeOutlined, HistoryOutlined, ReadOutlined } from "@ant-design/icons";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { useMay } from "../session";
import type { Switch } from "./head";
import { type Place, writtenPlace } from "./place";
import { isRenderable } from "./shown";

interface Switches {
  readonly isRendered: boolean;
  readonly isBlamed: boolean;
  /** Those that the file has. */
  readonly offered: readonly Switch[];
}

/** Returns how a file is shown. A document is shown as its writer meant it, lines of it as they stand in the file. */
export function useSwitches(place: Place): (file: Schemas["FileLinesOut"] | undefined) => Switches {
  const t = useText();
  const may = useMay(place.projectId);
  const [isBlamed, setBlamed] = useState(false);
  // A choice holds until another place is opened.
  const [choice, setChoice] = useState<{ readonly of: string; readonly isRendered: boolean }>();
  const here = `${place.projectId} ${writtenPlace(place)}`;
  return (file) => {
    if (!file) return { isRendered: false, isBlamed, offered: [] };
    const isOffered = isRenderable(file);
    const isRendered = isOffered && (choice?.of === here ? choice.isRendered : !place.startLine);
    const offered: Switch[] = [];
    if (isOffered) {
      offered.push({
        label: t(isRendered ? "viewer.source" : "viewer.rendered"),
        icon: isRendered ? <CodeOutlined /> : <ReadOutlined />,
        isOn: false,
        onChange: () => setChoice({ of: here, isRendered: !isRendered }),
      });
    }
    // The server shows commits to those who may read all revisions.
    if (!isRendered && may("maintainer")) {
      offered.push({
        label: t("viewer.blame"),
        icon: <HistoryOutlined />,
        isOn: isBlamed,
        onChange: () => setBlamed(!isBlamed),
      });
    }
    return { isRendered, isBlamed, offered };
  };
}
