import { Button } from "antd";
import { lazy, Suspense } from "react";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import { useTold } from "../i18n/said";
import { Boundary, Loading } from "../parts";
import { useBlame } from "./blame";
import { Code, type CodeProps } from "./code";
import { isSoonSet } from "./markup";
import { pagesOf } from "./page-marks";
import { Pages } from "./pages";
import { PictureFile } from "./picture";
import { isDrawing } from "./picture-names";
import { PROSE } from "./prose";

const Rendered = lazy(() => import("./rendered"));

const WRITTEN: ReadonlySet<string> = new Set(["markdown", "notebook"]);
// Longer texts are read as they are: setting them would hold up the page.
const MOST_RENDERED = 300_000;

/** Whether a file can be shown as its writer meant it: a whole one of a kind that has such a form. */
export function isRenderable(file: Schemas["FileLinesOut"]): boolean {
  if (isDrawing(file.path)) return true;
  if (file.language === "pdf") return pagesOf(file.content).length > 0;
  const isWhole = file.start_line <= 1 && file.end_line >= file.n_lines;
  return WRITTEN.has(file.language) && isWhole && file.content.length <= MOST_RENDERED && isSoonSet(file.content);
}

interface ShownProps extends Omit<CodeProps, "wraps" | "blame"> {
  readonly isRendered: boolean;
  readonly isBlamed: boolean;
}

/** The lines of a file, or what they mean; of a long file a part. */
export function Shown({ isRendered, isBlamed, ...code }: ShownProps) {
  const t = useText();
  const toldOf = useTold();
  const { file, onLines } = code;
  const blame = useBlame(isBlamed && !isRendered, file);
  const told = blame.problem && toldOf(blame.problem);
  const isPart = file.start_line > 1 || file.end_line < file.n_lines;
  // Prose has lines that nobody wants to follow sideways.
  const lines = <Code {...code} wraps={PROSE.has(file.language)} blame={blame.value} />;
  if (isRendered && isDrawing(file.path)) return <PictureFile projectId={file.project_id} path={file.path} />;
  if (isRendered && file.language === "pdf") return <Pages key={file.path} file={file} line={code.place.startLine} />;
  if (isRendered) {
    return (
      <Boundary key={file.path} instead={lines}>
        <Suspense fallback={<Loading />}>
          <Rendered projectId={file.project_id} path={file.path} language={file.language} content={file.content} />
        </Suspense>
      </Boundary>
    );
  }
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
      {told && (
        <p className="viewer-note" role="alert">
          {told.title} {told.detail} {told.hint}
        </p>
      )}
      {lines}
    </>
  );
}
