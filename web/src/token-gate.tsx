import { lazy, Suspense, useEffect, useState } from "react";
import { onUnauthorized } from "./api/client";

// Most servers ask for no token, and a browser that has one is not asked again.
const TokenDialog = lazy(() => import("./token-dialog"));

/** Asks for the token when the server refuses a request without a good one. */
export function TokenGate({ onToken }: { readonly onToken: () => void }) {
  const [asked, setAsked] = useState<"no" | "first" | "again">("no");
  useEffect(() => onUnauthorized((hadToken) => setAsked(hadToken ? "again" : "first")), []);
  if (asked === "no") return null;
  const onKept = () => {
    setAsked("no");
    onToken();
  };
  return (
    <Suspense fallback={null}>
      <TokenDialog isWrong={asked === "again"} onKept={onKept} />
    </Suspense>
  );
}
