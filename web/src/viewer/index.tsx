import type { Place } from "./place";

export interface CodeViewerProps extends Place {
  readonly onClose: () => void;
}

export default function CodeViewer({ path }: CodeViewerProps) {
  return <aside aria-label={path}>{path}</aside>;
}
