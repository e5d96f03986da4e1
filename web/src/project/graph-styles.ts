import type { StylesheetJson } from "cytoscape";

/** How it looks in the theme of the page: a canvas knows no variables of CSS. */
export function styles(): StylesheetJson {
  const all = getComputedStyle(document.documentElement);
  const colour = (name: string) => all.getPropertyValue(`--${name}`).trim();
  return [
    {
      selector: "node",
      style: {
        width: "data(size)",
        height: "data(size)",
        label: "data(label)",
        "background-color": colour("accent"),
        color: colour("ink"),
        "font-family": all.getPropertyValue("--sans"),
        "text-valign": "bottom",
        "text-margin-y": 4,
        "text-background-color": colour("surface"),
        "text-background-opacity": 0.8,
        "text-background-padding": "1px",
      },
    },
    {
      selector: "edge",
      style: {
        width: "data(width)",
        "line-color": colour("ink-faint"),
        "line-opacity": 0.45,
        "target-arrow-color": colour("ink-faint"),
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.8,
        "curve-style": "bezier",
      },
    },
    { selector: "node.unnamed", style: { "text-opacity": 0, "text-background-opacity": 0 } },
    { selector: ".far", style: { opacity: 0.15 } },
    { selector: "node.near", style: { "z-index": 1 } },
    { selector: "edge.near", style: { "line-color": colour("accent"), "target-arrow-color": colour("accent") } },
    { selector: "node.chosen", style: { "border-width": 4, "border-color": colour("chart-2") } },
  ];
}
