import { App } from "antd";
import type { ComponentType } from "react";

/** Returns a page in which `App.useApp` can show messages and questions: only pages that do so load what that takes. */
export function withMessages<Props extends object>(Page: ComponentType<Props>): ComponentType<Props> {
  return function WithMessages(props: Props) {
    return (
      <App component={false}>
        <Page {...props} />
      </App>
    );
  };
}
