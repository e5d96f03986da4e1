import { type DependencyList, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { remember, remembered } from "../remembered";
import { ROOT_PATH } from "../root-path";
import type { components } from "./types";

/** The shapes of bodies and answers: `Schemas["ProjectOut"]`. */
export type Schemas = components["schemas"];
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

const BASE = `${ROOT_PATH}/api`;
const NO_ANSWER = 0;
const CAN_SIGN_IN = "sign_in_required";

/** What went wrong: what the server says (problem+json), or that it does not answer (status 0). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly hint: string = "",
    readonly detail_parts: readonly Schemas["NoteOut"][] = [],
    readonly hint_parts: readonly Schemas["NoteOut"][] = [],
  ) {
    super(detail);
    this.name = "Problem";
  }

  get isOffline(): boolean {
    return this.status === NO_ANSWER;
  }
}

export function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return answered<T>(`${path}${queried(query)}`, { signal });
}

/** Returns a picture as an address that holds all of it: the request of an `img` would have no token. */
export async function getPicture(path: string, query: Query, signal: AbortSignal): Promise<string> {
  const headers = { accept: "image/*, application/json" };
  const response = await send(`${path}${queried(query)}`, { signal, headers });
  const content = await response.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(String(reader.error)));
    reader.readAsDataURL(content);
  });
}

export function post<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return answered<T>(path, { method: "POST", body, signal });
}

export function put<T = void>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return answered<T>(path, { method: "PUT", body, signal });
}

export function patch<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return answered<T>(path, { method: "PATCH", body, signal });
}

export function remove<T = void>(path: string, signal?: AbortSignal): Promise<T> {
  return answered<T>(path, { method: "DELETE", signal });
}

export interface Request {
  readonly method?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request. Throws a Problem for an answer that is none, and lets an AbortError through. */
export async function send(path: string, request: Request = {}): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json", ...request.headers };
  const token = remembered("token");
  if (token) headers.authorization = `Bearer ${token}`;
  if (request.body !== undefined) headers["content-type"] = "application/json";
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const response = await fetched(`${BASE}${path}`, {
    method: request.method ?? "GET",
    body,
    headers,
    signal: request.signal,
  });
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.status === 401) tellUnauthorized({ hadToken: Boolean(token), canSignIn: problem.code === CAN_SIGN_IN });
  throw problem;
}

async function fetched(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem(NO_ANSWER, "offline", String(error instanceof Error ? error.message : error));
  }
}

async function answered<T>(path: string, request: Request): Promise<T> {
  const response = await send(path, request);
  if (response.status === 204) return undefined as T;
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return (isJson ? await response.json() : await response.text()) as T;
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const found = (await response.json()) as Partial<Schemas["ProblemOut"]>;
    const { code = "unknown", detail = response.statusText, hint, detail_parts, hint_parts } = found;
    return new Problem(response.status, code, detail, hint, detail_parts, hint_parts);
  } catch {
    return new Problem(response.status, "unknown", response.statusText || `${response.status}`);
  }
}

function queried(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== "") search.append(name, String(one));
    }
  }
  const text = search.toString();
  return text && `?${text}`;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Returns any error as a Problem, so that it can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(-1, "page", error instanceof Error ? error.message : String(error));
}

// ---- the token

/** A refusal for want of a good token or session. */
export interface Refusal {
  readonly hadToken: boolean;
  /** Whether people sign in at a provider. */
  readonly canSignIn: boolean;
}

type Listener = (refusal: Refusal) => void;
const listeners = new Set<Listener>();

/** Calls `listener` whenever the server refuses a request for want of a good token or session. */
export function onUnauthorized(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tellUnauthorized(refusal: Refusal): void {
  for (const listener of listeners) listener(refusal);
}

export function keepToken(token: string): void {
  remember("token", token.trim());
}

// ---- loading

export interface Load<T> {
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly loading: boolean;
  /** Loads again; what is there stays until then. */
  readonly reload: () => void;
}

interface Loaded<T> extends Pick<Load<T>, "value" | "problem"> {
  /** What it was loaded for. */
  readonly deps: DependencyList | undefined;
}

/** Loads when the component appears and whenever `deps` change; what was asked before is aborted. */
export function useLoad<T>(loader: (signal: AbortSignal) => Promise<T>, deps: DependencyList): Load<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: undefined, problem: undefined, deps: undefined });
  const [round, setRound] = useState(0);
  const current = useRef(loader);
  current.current = loader;
  const wanted = [...deps, round];
  useEffect(() => {
    const controller = new AbortController();
    current
      .current(controller.signal)
      .then((value) => {
        if (!controller.signal.aborted) setLoaded({ value, problem: undefined, deps: wanted });
      })
      .catch((error: unknown) => {
        if (controller.signal.aborted) return;
        setLoaded((before) => ({ value: before.value, problem: asProblem(error), deps: wanted }));
      });
    return () => controller.abort();
  }, wanted);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  // True from the very moment that something else is wanted, not only when its loading has begun.
  const loading = !wanted.every((value, place) => Object.is(value, loaded.deps?.[place]));
  const { value, problem } = loaded;
  return useMemo(() => ({ value, problem, loading, reload }), [value, problem, loading, reload]);
}
