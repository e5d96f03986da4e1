import { App } from "antd";
import { useCallback } from "react";
import { asProblem, isAbort, type Problem } from "../api/client";
import { useText } from "../i18n";

/** Returns what says of a problem that something did not work, and what to do about it. */
export function useFailureText(): (problem: Problem) => readonly [string, string] {
  const t = useText();
  return useCallback(
    (problem: Problem) => {
      if (problem.isOffline) return [t("shell.offline"), t("projects.away")];
      if (problem.code === "closed") return [t("projects.settings.closed"), problem.detail];
      return [problem.detail || t("projects.failed"), problem.hint];
    },
    [t],
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
