import { useEffect, useRef } from "react";

// Other tabs of the same browser; where there is no such channel they look again when they are looked at.
const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("fathom-chat");

/** Tells the other tabs that a conversation has changed. */
export function tellOthers(conversationId: string): void {
  if (conversationId) channel?.postMessage(conversationId);
}

/** Calls `onChange` when another tab has changed a conversation, and when this one is looked at again. */
export function useOthers(onChange: () => void): void {
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    const listener = () => latest.current();
    const onVisible = () => document.visibilityState === "visible" && latest.current();
    channel?.addEventListener("message", listener);
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      channel?.removeEventListener("message", listener);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, []);
}
