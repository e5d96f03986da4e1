import { lazy, Suspense } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { useTexts } from "../i18n";
import { Boundary, Loading, Trouble } from "../parts";
import { CitationLink } from "../viewer/citation-link";
import { glanceText } from "./glance-text";

const Treemap = lazy(() => import("./treemap"));

type Glance = Schemas["GlanceOut"];

/** What a project is for in its own words, where to read it, and its files by size and age. The tour comes when it is
 * made: in a very large project it needs a map that may take a minute. */
export function GlanceParts({ projectId, nFiles }: { readonly projectId: string; readonly nFiles: number }) {
  const t = useTexts(glanceText);
  const glance = useLoad((signal) => get<Glance>("/glance", { project_id: projectId }, signal), [projectId]);
  if (glance.problem) return <Trouble problem={glance.problem} onRetry={glance.reload} />;
  // What stands below must not move once it is seen.
  if (!glance.value)
    return (
      <div className="glance-place">
        <Loading />
      </div>
    );
  const { purpose, purpose_path, files } = glance.value;
  return (
    <>
      {purpose && (
        <blockquote className="project-purpose" cite={purpose_path}>
          <p>{purpose}</p>
          <footer className="soft">
            {t("purpose.from")} <CitationLink projectId={projectId} path={purpose_path} />
          </footer>
        </blockquote>
      )}
      <Tour projectId={projectId} nFiles={nFiles} />
      {files.length > 0 && (
        <Boundary>
          <Suspense fallback={<section className="panel treemap-panel" />}>
            <Treemap projectId={projectId} glance={glance.value} />
          </Suspense>
        </Boundary>
      )}
    </>
  );
}

const MOST_STEPS = 10;

function Tour({ projectId, nFiles }: { readonly projectId: string; readonly nFiles: number }) {
  const t = useTexts(glanceText);
  const tour = useLoad((signal) => get<Schemas["TourOut"]>("/tour", { project_id: projectId }, signal), [projectId]);
  if (tour.problem) return <Trouble problem={tour.problem} onRetry={tour.reload} />;
  const steps = tour.value?.steps;
  if (steps?.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="project-tour" aria-busy={!steps}>
      <h2 id="project-tour">{t("tour")}</h2>
      <p className="soft">{t("tour.hint")}</p>
      {!steps && <TourPlace nSteps={Math.min(MOST_STEPS, nFiles)} />}
      <ol className="project-tour">
        {steps?.map(({ path, start_line, end_line, symbol, reason, source }) => (
          <li key={path}>
            <CitationLink projectId={projectId} path={path} startLine={start_line} endLine={end_line} />{" "}
            {symbol && <code>{symbol}</code>}
            <span className="soft">{t(`tour.${reason}`, { source })}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The room of a tour that is still made. */
function TourPlace({ nSteps }: { readonly nSteps: number }) {
  return (
    <div className="project-tour" aria-hidden>
      {Array.from({ length: nSteps }, (_, number) => (
        <div key={number} className="tour-place" />
      ))}
    </div>
  );
}
