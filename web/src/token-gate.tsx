import { lazy, Suspense, useEffect, useState } from "react";
import { onUnauthorized, type Refusal } from "./api/client";
import { remembered } from "./remembered";
import { SIGN_IN_PROBLEM, signIn } from "./sign-in";

// Most servers ask for no token, and a browser that has one is not asked again.
const TokenDialog = lazy(() => import("./token-dialog"));

/** Leads to where people sign in, or asks for the token, when the server refuses a request without either. */
export function TokenGate({ onToken }: { readonly onToken: () => void }) {
  const [refusal, setRefusal] = useState<Refusal>();
  useEffect(() => {
    const refused = (refusal: Refusal) => {
      if (SIGN_IN_PROBLEM) return;
      // Who has signed out is not signed in again unasked, and a token that was typed may be corrected.
      if (refusal.canSignIn && !refusal.hadToken && !remembered("signed-out")) return signIn();
      setRefusal(refusal);
    };
    return onUnauthorized(refused);
  }, []);
  if (!refusal) return null;
  const onKept = () => {
    setRefusal(undefined);
    onToken();
  };
  return (
    <Suspense fallback={null}>
      <TokenDialog canSignIn={refusal.canSignIn} isWrong={refusal.hadToken} onKept={onKept} />
    </Suspense>
  );
}
