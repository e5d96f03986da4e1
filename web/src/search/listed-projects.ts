import { createContext } from "react";
import type { Schemas } from "../api/client";

/** The projects of the list by their ids: where the files of a place lie. */
export const ListedProjects = createContext<ReadonlyMap<string, Schemas["ProjectOut"]>>(new Map());
