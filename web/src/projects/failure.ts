import { App } from "antd";
import { useCallback } from "react";
import { asProblem, isAbort } from "../api/client";
import { useText } from "../i18n";

/** Returns what says that something did not work, and what to do about it. */
export function useFailure(): (error: unknown) => void {
  const t = useText();
  const { notification } = App.useApp();
  return useCallback(
    (error: unknown) => {
      if (isAbort(error)) return;
      const problem = asProblem(error);
      const [title, description] = problem.isOffline
        ? [t("shell.offline"), t("projects.away")]
        : problem.code === "closed"
          ? [t("projects.settings.closed"), problem.detail]
          : [problem.detail || t("projects.failed"), problem.hint];
      notification.error({ title, description, placement: "bottomRight" });
    },
    [notification, t],
  );
}
