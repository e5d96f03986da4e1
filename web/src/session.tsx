import { createContext, type ReactNode, useContext } from "react";
import { get, type Schemas, useLoad } from "./api/client";

type Session = Schemas["SessionOut"];

const Present = createContext<Session | undefined>(undefined);

/** Asks the server once for all pages what the token of this browser allows. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const { value } = useLoad((signal) => get<Session>("/session", undefined, signal), []);
  return <Present.Provider value={value}>{children}</Present.Provider>;
}

/** Returns true for a token that is kept to some projects: what only a token without limits may do is not offered. */
export function useIsKept(): boolean {
  return useContext(Present)?.may_manage === false;
}
