import { useEffect, useRef, useState } from "react";
import type { Schemas } from "../api/client";
import { useTexts } from "../i18n";
import { useFormat } from "../i18n/format";
import { CitationLink } from "../viewer/citation-link";
import { usePlaces } from "../viewer/place";
import { type Age, ageOf, type Box, boxesOf } from "./boxes";
import { glanceText } from "./glance-text";

const HEIGHT = 340;
const LEAST_FOR_NAME = { width: 44, height: 16 };
const CHAR_PX = 6.6;
const AGES: readonly Age[] = ["week", "month", "half", "year", "older"];

interface TreemapProps {
  readonly projectId: string;
  readonly glance: Schemas["GlanceOut"];
}

/** The largest files as boxes by size, in the color of their age; and the same as a table. */
export default function Treemap({ projectId, glance }: TreemapProps) {
  const t = useTexts(glanceText);
  const format = useFormat();
  const { files, n_files_left_out: n, n_bytes_left_out } = glance;
  const hasTimes = files.some((file) => file.changed_at > 0);
  return (
    <section className="panel treemap-panel" aria-labelledby="project-sizes">
      <h2 id="project-sizes">{t("sizes")}</h2>
      <p className="soft">{t("sizes.hint")}</p>
      <Picture projectId={projectId} files={files} />
      {hasTimes && (
        <p className="treemap-ages soft">
          {AGES.map((age) => (
            <span key={age}>
              <i className={`is-${age}`} aria-hidden /> {t(`age.${age}`)}
            </span>
          ))}
          <span>{t("sizes.times")}</span>
        </p>
      )}
      {n > 0 && <p className="soft">{t("sizes.left-out", { n, size: format.bytes(n_bytes_left_out) })}</p>}
      <FileTable projectId={projectId} files={files} />
    </section>
  );
}

type Files = TreemapProps["glance"]["files"];

function Picture({ projectId, files }: { readonly projectId: string; readonly files: Files }) {
  const t = useTexts(glanceText);
  const format = useFormat();
  const { open } = usePlaces();
  const around = useRef<HTMLDivElement>(null);
  const width = useWidth(around);
  const about = ({ path, file }: Box) =>
    file ? `${path} · ${format.bytes(file.size)}${file.changed_at ? ` · ${format.ago(file.changed_at)}` : ""}` : path;
  return (
    <div ref={around} className="treemap">
      <svg role="img" aria-label={t("sizes.picture", { n: files.length })} width={width} height={HEIGHT}>
        {boxesOf(files, width, HEIGHT).map((box) => (
          <g
            key={box.path}
            className={box.file ? `is-${ageOf(box.file.changed_at)}` : "is-folder"}
            transform={`translate(${box.left} ${box.top})`}
            onClick={box.file && (() => open({ projectId, path: box.path }))}
          >
            <title>{about(box)}</title>
            <rect width={box.width} height={box.height} />
            {box.width >= LEAST_FOR_NAME.width && box.height >= LEAST_FOR_NAME.height && (
              <text x={4} y={12}>
                {cut(box.name, box.width)}
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  );
}

function FileTable({ projectId, files }: { readonly projectId: string; readonly files: Files }) {
  const t = useTexts(glanceText);
  const format = useFormat();
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="module-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("sizes.table")}</summary>
      {isOpen && (
        <div tabIndex={0} role="region" aria-label={t("sizes.table")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("file")}</th>
                <th scope="col">{t("size")}</th>
                <th scope="col">{t("changed")}</th>
              </tr>
            </thead>
            <tbody>
              {files.map(({ path, size, changed_at }) => (
                <tr key={path}>
                  <th scope="row">
                    <CitationLink projectId={projectId} path={path} />
                  </th>
                  <td>{format.bytes(size)}</td>
                  <td>{changed_at ? format.ago(changed_at) : t("age.none")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function cut(name: string, width: number): string {
  const most = Math.floor((width - 8) / CHAR_PX);
  return name.length <= most ? name : `${name.slice(0, Math.max(most - 1, 1))}…`;
}

/** The width of an element, followed as it changes. */
function useWidth(around: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = around.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [around]);
  return width;
}
