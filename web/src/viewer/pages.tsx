import { LeftOutlined, RightOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { pageAt, pagesOf } from "./page-marks";
import { Picture } from "./picture";

interface PagesProps {
  readonly file: Schemas["FileLinesOut"];
  readonly line: number | undefined;
}

/** The pages of a PDF as pictures, one at a time. */
export function Pages({ file, line }: PagesProps) {
  const t = useText();
  const pages = pagesOf(file.content);
  const [page, setPage] = useState(() => pageAt(file.content, (line ?? file.start_line) - file.start_line));
  const place = pages.indexOf(page);
  const to = (step: number, label: string, icon: React.ReactNode) => {
    const next = pages[place + step];
    return (
      <Button
        icon={icon}
        aria-label={label}
        title={label}
        disabled={next === undefined}
        onClick={() => next !== undefined && setPage(next)}
      />
    );
  };
  const label = t("viewer.page", { n: page });
  return (
    <div className="picture-pane" role="region" aria-label={file.path} tabIndex={0}>
      <div className="picture-pages">
        {to(-1, t("viewer.page.before"), <LeftOutlined />)}
        <span aria-live="polite">{label}</span>
        {to(1, t("viewer.page.next"), <RightOutlined />)}
      </div>
      <Picture projectId={file.project_id} path={file.path} page={page} alt={`${file.path}, ${label}`} />
    </div>
  );
}
