import { getPicture, useLoad } from "../api/client";
import { Loading, Trouble } from "../parts";
import { useSeen } from "../seen";
import "./picture.css";

interface PictureProps {
  readonly projectId: string;
  readonly path: string;
  /** Of a PDF. */
  readonly page?: number;
  readonly alt: string;
}

/** A picture of a project. It is an image, also a drawing: nothing in it runs. */
export function Picture({ projectId, path, page, alt }: PictureProps) {
  const shown = useLoad(
    (signal) => getPicture("/picture", { project_id: projectId, path, page }, signal),
    [projectId, path, page],
  );
  if (shown.problem) return <Trouble problem={shown.problem} onRetry={shown.reload} />;
  if (!shown.value || shown.loading) return <Loading />;
  return <img className="picture" src={shown.value} alt={alt} />;
}

/** A picture file in the viewer. */
export function PictureFile({ projectId, path }: { readonly projectId: string; readonly path: string }) {
  return (
    <div className="picture-pane" role="region" aria-label={path} tabIndex={0}>
      <Picture projectId={projectId} path={path} alt={path} />
    </div>
  );
}

/** A picture in a text: it is loaded when it comes into sight, and its words stand where there is none. */
export function PictureInText({ projectId, path, alt }: PictureProps) {
  const [place, isSeen] = useSeen<HTMLSpanElement>();
  const shown = useLoad(
    (signal) => (isSeen ? getPicture("/picture", { project_id: projectId, path }, signal) : Promise.resolve(undefined)),
    [projectId, path, isSeen],
  );
  if (shown.value) return <img className="picture" src={shown.value} alt={alt} />;
  return (
    <span ref={place} className="rendered-picture">
      {alt || path}
    </span>
  );
}
