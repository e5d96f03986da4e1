import { BarChartOutlined, CheckOutlined, CopyOutlined, ExportOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { lazy, Suspense, useContext, useState } from "react";
import { useText } from "../i18n";
import { writtenPlace } from "../viewer/place";
import type { Hit } from "./asked";
import { elsewhereOf } from "./editors";
import { placeOf } from "./hit-link";
import { ListedProjects } from "./listed-projects";

const ElsewhereMenu = lazy(() => import("./elsewhere-menu"));

interface ActionsProps {
  readonly hit: Hit;
  readonly isAsked: boolean;
  readonly controls: string;
  readonly onAsk: () => void;
}

/** What can be done with a place: copy it, open it elsewhere, ask why it is here. */
export function HitActions({ hit, isAsked, controls, onAsk }: ActionsProps) {
  const t = useText();
  return (
    <span className="hit-actions">
      <Copy text={writtenPlace(placeOf(hit))} />
      <OpenElsewhere hit={hit} />
      <Button
        size="small"
        type="text"
        data-why
        icon={<BarChartOutlined />}
        aria-label={t("search.why")}
        title={t("search.why")}
        aria-expanded={isAsked}
        aria-controls={controls}
        onClick={onAsk}
      />
    </span>
  );
}

function OpenElsewhere({ hit }: { readonly hit: Hit }) {
  const t = useText();
  const [isWanted, setWanted] = useState(false);
  const project = useContext(ListedProjects).get(hit.project_id);
  const place = { path: hit.path, line: hit.line, endLine: hit.end_line, commit: hit.commit?.commit };
  const found = project ? elsewhereOf(project, place, window.location.hostname) : [];
  if (found.length === 0) return null;
  const button = (
    <Button
      size="small"
      type="text"
      icon={<ExportOutlined />}
      aria-label={t("search.elsewhere")}
      title={t("search.elsewhere")}
      onClick={() => setWanted(true)}
    />
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <ElsewhereMenu found={found} />
    </Suspense>
  );
}

function Copy({ text }: { readonly text: string }) {
  const t = useText();
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    });
  const label = t(isCopied ? "search.copied" : "search.copy");
  return (
    <Button
      size="small"
      type="text"
      className="hit-copy"
      aria-label={label}
      title={label}
      icon={isCopied ? <CheckOutlined /> : <CopyOutlined />}
      onClick={copy}
    />
  );
}
