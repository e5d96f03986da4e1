import { LoginOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { asProblem, Problem, post } from "./api/client";
import { useText } from "./i18n";
import { Trouble } from "./parts";
import { remember } from "./remembered";
import { pathHere, ROOT_PATH } from "./root-path";

let isLeaving = false;

// A page of the browser's history comes back as it was left.
globalThis.addEventListener?.("pageshow", () => {
  isLeaving = false;
});

const written = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="problem"]')?.content;

/** Why signing in did not work: the server writes it into the page. */
export const SIGN_IN_PROBLEM = written ? problemIn(written) : undefined;

/** Leaves the page for the provider, which leads back to it; once, however many requests were refused. */
export function signIn(): void {
  if (isLeaving) return;
  isLeaving = true;
  remember("signed-out", "");
  const here = SIGN_IN_PROBLEM ? "/" : `${pathHere()}${window.location.search}${window.location.hash}`;
  window.location.assign(`${ROOT_PATH}/sign-in?${new URLSearchParams({ next: here })}`);
}

/** Ends the session of this browser. The page then waits until somebody wants to sign in again. */
export async function signOut(): Promise<void> {
  remember("signed-out", "yes");
  try {
    await post("/sign-out");
  } catch (error) {
    const isEnded = [401, 409].includes(asProblem(error).status); // elsewhere, or by itself
    if (!isEnded) remember("signed-out", "");
  }
  window.location.assign(`${ROOT_PATH}/`);
}

export function SignInButton() {
  const t = useText();
  return (
    <Button type="primary" icon={<LoginOutlined aria-hidden />} onClick={signIn} block>
      {t("shell.sign-in")}
    </Button>
  );
}

/** The page after a sign-in that did not work. */
export function SignInFailed({ problem }: { readonly problem: Problem }) {
  return (
    <>
      <Trouble problem={problem} />
      <div className="sign-in-again">
        <SignInButton />
      </div>
    </>
  );
}

function problemIn(text: string): Problem | undefined {
  try {
    const said = JSON.parse(text) as Problem;
    return new Problem(said.status, said.code, said.detail, said.hint);
  } catch {
    return undefined;
  }
}
