import { App } from "antd";
import { type ReactNode, useCallback } from "react";
import { asProblem, isAbort, type Problem } from "../api/client";
import { useText } from "../i18n";
import { useTold } from "../i18n/said";

/** Returns what says of a problem that something did not work, and what to do about it. */
export function useFailureText(): (problem: Problem) => readonly [string, ReactNode] {
  const t = useText();
  const told = useTold();
  return useCallback(
    (problem: Problem) => {
      if (problem.isOffline) return [t("shell.offline"), t("projects.away")];
      const { title, detail, hint } = told(problem);
      if (problem.code === "closed") return [t("projects.settings.closed"), detail ?? problem.detail];
      return [title || t("projects.failed"), detail ? [detail, " ", hint] : hint];
    },
    [t, told],
  );
}

/** Returns what shows that something did not work. */
export function useFailure(): (error: unknown) => void {
  const textOf = useFailureText();
  const { notification } = App.useApp();
  return useCallback(
    (error: unknown) => {
      if (isAbort(error)) return;
      const [title, description] = textOf(asProblem(error));
      notification.error({ title, description, placement: "bottomRight" });
    },
    [notification, textOf],
  );
}
