import { MinusOutlined, PlusOutlined, ExpandOutlined } from "@ant-design/icons";
import { Button } from "antd";
import cytoscape, { type Core } from "cytoscape";
import { useEffect, useRef } from "react";
import { useTexts } from "../i18n";
import { useSeen } from "../seen";
import { showNames } from "./graph-names";
import { styles } from "./graph-styles";
import { moduleName } from "./module-name";
import type { ModuleMap } from "./modules";
import { projectText } from "./text";

const STEP = 1.4; // of one click on a button
const LEAST_ZOOM = 0.1;
const MOST_ZOOM = 4;
const MOST_WIDER = 2.5;
const PADDING = 24;
const LABEL_PX = 11; // on the screen, however far it is zoomed out

interface GraphProps {
  readonly map: ModuleMap;
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
}

/** The modules as circles and the imports between them as arrows, which can be clicked, dragged and zoomed.
 *
 * To find a place for each takes a third of a second, so it is done when somebody comes there. */
export default function Graph({ map, chosen, onChoose }: GraphProps) {
  const t = useTexts(projectText);
  const [place, isSeen] = useSeen<HTMLDivElement>();
  const graph = useRef<Core>(undefined);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  useEffect(() => {
    if (!isSeen || !place.current) return;
    const drawn = drawnIn(place.current, map, (path) => choose.current(path));
    graph.current = drawn;
    const isThemed = new MutationObserver(() => drawn.style(styles()).update());
    isThemed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const isSized = new ResizeObserver(() => drawn.resize().fit(undefined, PADDING));
    isSized.observe(place.current);
    return () => {
      isThemed.disconnect();
      isSized.disconnect();
      drawn.destroy();
    };
  }, [map, place, isSeen]);
  useEffect(() => {
    const drawn = graph.current;
    if (!drawn) return;
    mark(drawn, chosen);
    showNames(drawn);
  }, [map, chosen, isSeen]);
  const zoom = (factor: number) => {
    const drawn = graph.current;
    const middle = { x: (drawn?.width() ?? 0) / 2, y: (drawn?.height() ?? 0) / 2 };
    drawn?.zoom({ level: drawn.zoom() * factor, renderedPosition: middle });
  };
  return (
    <div className="module-graph">
      <div ref={place} className="module-picture" role="img" aria-label={t("map.picture", { n: map.modules.length })} />
      <div className="module-zoom">
        <Button icon={<PlusOutlined />} aria-label={t("map.in")} title={t("map.in")} onClick={() => zoom(STEP)} />
        <Button
          icon={<MinusOutlined />}
          aria-label={t("map.out")}
          title={t("map.out")}
          onClick={() => zoom(1 / STEP)}
        />
        <Button
          icon={<ExpandOutlined />}
          aria-label={t("map.fit")}
          title={t("map.fit")}
          onClick={() => graph.current?.fit(undefined, PADDING)}
        />
      </div>
    </div>
  );
}

/** Sets the chosen module and its imports off from the others. */
function mark(drawn: Core, chosen: string | undefined): void {
  drawn.elements().removeClass("chosen near far");
  if (chosen === undefined) return;
  const node = drawn.getElementById(idOf(chosen));
  node.addClass("chosen");
  const near = node.closedNeighborhood();
  near.addClass("near");
  drawn.elements().not(near).addClass("far");
}

function drawnIn(container: HTMLElement, map: ModuleMap, onChoose: (path: string) => void): Core {
  const most = Math.max(...map.modules.map(({ n_lines }) => n_lines), 1);
  const above = commonFolder(map.modules.map(({ path }) => path).filter((path) => path !== map.folder));
  const drawn = cytoscape({
    container,
    elements: [
      ...map.modules.map(({ path, n_lines }) => ({
        data: {
          id: idOf(path),
          label: labelOf(path, map.folder, above),
          size: 16 + 44 * Math.sqrt(n_lines / most),
          path,
        },
      })),
      ...map.links.map(({ source, target, n_imports }) => ({
        data: { source: idOf(source), target: idOf(target), width: 1 + Math.log2(n_imports) / 2 },
      })),
    ],
    style: styles(),
    minZoom: LEAST_ZOOM,
    maxZoom: MOST_ZOOM,
    userZoomingEnabled: false, // the wheel scrolls the page until somebody presses into the picture
  });
  // From a circle on, so that the same project gives the same picture each time.
  drawn.layout({ name: "circle", animate: false }).run();
  drawn
    .layout({
      name: "cose",
      animate: false,
      randomize: false,
      padding: PADDING,
      nodeDimensionsIncludeLabels: true,
      nodeRepulsion: () => 60_000,
      idealEdgeLength: () => 60,
      nodeOverlap: 20,
      componentSpacing: 60,
    })
    .run();
  // A picture is as wide as its place: names need room beside each other.
  const box = drawn.elements().boundingBox();
  const wider = Math.min(Math.max((drawn.width() * box.h) / (drawn.height() * box.w), 1), MOST_WIDER);
  drawn.nodes().positions((node) => ({ x: node.position("x") * wider, y: node.position("y") }));
  drawn.fit(undefined, PADDING);
  const size = () => {
    drawn.nodes().style("font-size", LABEL_PX / Math.min(drawn.zoom(), 1));
    showNames(drawn);
  };
  drawn.on("zoom", size);
  drawn.on("dragfree", () => showNames(drawn));
  size();
  drawn.on("tap", "node", (event) => onChoose(event.target.data("path") as string));
  container.addEventListener("pointerdown", () => drawn.userZoomingEnabled(true));
  container.addEventListener("pointerleave", () => drawn.userZoomingEnabled(false));
  return drawn;
}

/** What all folders have before their names tells nothing in a picture. */
function labelOf(path: string, folder: string, above: string): string {
  return path.startsWith(`${above}/`) ? path.slice(above.length + 1) : moduleName(path, folder);
}

function commonFolder(paths: readonly string[]): string {
  const [first = "", ...others] = paths;
  const parts = first.split("/").slice(0, -1);
  while (parts.length > 0 && !others.every((path) => path.startsWith(`${parts.join("/")}/`))) parts.pop();
  return parts.join("/");
}

/** The root has no name, and each circle needs one. */
function idOf(path: string): string {
  return `/${path}`;
}
