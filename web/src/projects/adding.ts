import { useEffect, useState } from "react";
import { post, type Schemas, useLoad } from "../api/client";
import { useFailure } from "./failure";
import type { PlanAsked } from "./plan";
import type { Job } from "./progress";
import { addressIn } from "./repository";

export type Place = Schemas["PathOut"];

const PAUSE_MS = 220;

export interface Typed {
  readonly path: string;
  readonly revision: string;
  readonly name: string;
  readonly extensions: string[];
  readonly ignore: string[];
  readonly isIndexed: boolean;
}

const NOTHING: Typed = { path: "", revision: "", name: "", extensions: [], ignore: [], isIndexed: true };

interface Ends {
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

/** What is typed, and what comes of it. */
export function useAdding({ onClose, onAdded }: Ends) {
  const fail = useFailure();
  const [typed, setTyped] = useState(NOTHING);
  const [isAdding, setAdding] = useState(false);
  const place = usePlaceOf(typed.path, typed.revision);
  const address = addressIn(typed.path);
  const isFolder = place.value?.ok === true && !place.value.project_id && !place.loading;
  const canAdd = (address !== "" || isFolder) && !isAdding;
  const add = async () => {
    if (!canAdd) return;
    setAdding(true);
    try {
      const where = address ? { url: address } : { path: typed.path.trim() };
      const body = { ...where, revision: typed.revision.trim(), name: typed.name.trim(), settings: settingsOf(typed) };
      const project = await post<Schemas["ProjectOut"]>("/projects", body);
      // A repository is indexed in any case: that is what fetches it.
      if (typed.isIndexed && !address) await post<Job>(`/projects/${encodeURIComponent(project.id)}/index`, {});
      onClose();
      onAdded();
    } catch (error) {
      fail(error);
    } finally {
      setAdding(false);
    }
  };
  // What an address names is asked only when somebody wants it: that is another machine.
  const planned: PlanAsked | undefined = isFolder
    ? { path: typed.path.trim(), revision: typed.revision.trim(), settings: settingsOf(typed) }
    : undefined;
  const type = (change: Partial<Typed>) => setTyped((before) => ({ ...before, ...change }));
  return { typed, type, clear: () => setTyped(NOTHING), address, place, planned, canAdd, add: () => void add() };
}

function settingsOf({ extensions, ignore }: Typed): Record<string, string[]> {
  return {
    ...(extensions.length > 0 && { "source.required_exts": extensions }),
    ...(ignore.length > 0 && { "source.ignore": ignore }),
  };
}

interface Looked {
  readonly value: Place | undefined;
  /** Folders of the server that go on as the path does, or did before the last letters. */
  readonly folders: readonly string[];
  readonly loading: boolean;
}

/** What the server says of a path and a revision, when nothing has been typed for a moment. */
function usePlaceOf(path: string, revision: string): Looked {
  const [settled, setSettled] = useState("");
  const folder = addressIn(path) ? "" : path.trim();
  const wanted = folder && JSON.stringify({ path: folder, revision: revision.trim() });
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), wanted ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [wanted]);
  const looked = useLoad(
    async (signal) =>
      settled
        ? { of: settled, place: await post<Place>("/projects/validate-path", JSON.parse(settled) as object, signal) }
        : null,
    [settled],
  );
  const isCurrent = looked.value?.of === wanted;
  const problem: Place | undefined = looked.problem && {
    ok: false,
    root: "",
    name: "",
    has_index: false,
    project_id: "",
    problem: looked.problem.detail,
    hint: looked.problem.hint,
    folders: [],
  };
  return {
    folders: looked.value?.place.folders ?? [],
    value: problem ?? (wanted && isCurrent ? looked.value?.place : undefined),
    loading: Boolean(wanted) && !isCurrent && !problem,
  };
}
