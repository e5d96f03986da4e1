import { createContext, type ReactNode, useContext } from "react";
import { get, type Schemas, useLoad } from "./api/client";

type Session = Schemas["SessionOut"];

const Present = createContext<Session | undefined>(undefined);

/** Asks the server once for all pages what the token of this browser allows. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const { value } = useLoad((signal) => get<Session>("/session", undefined, signal), []);
  return <Present.Provider value={value}>{children}</Present.Provider>;
}

export type Role = Session["role"];

const ROLES: readonly Role[] = ["none", "reader", "indexer", "maintainer", "admin"];

/** Returns a function that tells whether the caller has at least a role in a project; true until the server has said. */
export function useMay(projectId: string): (role: Role) => boolean {
  const session = useContext(Present);
  const own = session && (session.roles[projectId] ?? session.role);
  return (role) => own === undefined || ROLES.indexOf(own) >= ROLES.indexOf(role);
}

/** Returns who has signed in, undefined until the server has said. */
export function useSession(): Session | undefined {
  return useContext(Present);
}

/** Returns true for a token that is kept to some projects: what only a token without limits may do is not offered. */
export function useIsKept(): boolean {
  return useContext(Present)?.may_manage === false;
}
