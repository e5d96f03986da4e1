import { FolderOpenOutlined } from "@ant-design/icons";
import { Sender } from "@ant-design/x";
import { type GetRef, Input, Segmented, Select, Tooltip } from "antd";
import { type ComponentProps, forwardRef, type Ref, type RefObject, useEffect } from "react";
import { useText } from "../i18n";
import { namesOf } from "../project-names";
import { type Asking, isAgentPossible } from "./asking";
import { ExpectedCost } from "./expected-cost";
import type { Project } from "./projects";
import { type Running, useExchange } from "./running";

export type ComposerRef = GetRef<typeof Sender>;

export interface ComposerProps {
  readonly ref?: RefObject<ComposerRef | null>;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly asking: Asking;
  readonly onAsking: (asking: Asking) => void;
  readonly conversationId: string;
  readonly projects: readonly Project[];
  readonly hasModel: boolean;
  /** What is being answered now, and can be stopped. */
  readonly running: Running | undefined;
  readonly onSend: (text: string) => void;
}

const COMPONENTS = { input: forwardRef(QuestionInput) };
const SIZE = { minRows: 1, maxRows: 10 };

/** Where a question is written, and said what it is asked of. */
export function Composer(props: ComposerProps) {
  const t = useText();
  const { ref, text, onText, asking, conversationId, running, onSend } = props;
  const isStopping = useExchange(running)?.isStopping;
  useEffect(() => {
    ref?.current?.focus();
  }, [ref]);
  return (
    <Sender
      ref={ref}
      className="composer"
      value={text}
      onChange={onText}
      placeholder={t("chat.question.placeholder")}
      autoSize={SIZE}
      loading={Boolean(running)}
      components={COMPONENTS}
      onSubmit={(written) => written.trim() && onSend(written.trim())}
      onCancel={() => void running?.stop()}
      suffix={false}
      footer={(_, { components: { SendButton, LoadingButton } }) => (
        <div className="composer-foot">
          <Choices {...props} />
          {asking.isThorough ? (
            <ExpectedCost text={text} projectIds={asking.projectIds} conversationId={conversationId} />
          ) : (
            <span className="composer-keys">{t("chat.keys")}</span>
          )}
          {running ? (
            <Tooltip title={t("chat.stop")}>
              <LoadingButton className="composer-stop" aria-label={t("chat.stop")} disabled={isStopping} />
            </Tooltip>
          ) : (
            <SendButton aria-label={t("chat.send")} disabled={!text.trim()} />
          )}
        </div>
      )}
    />
  );
}

type TextAreaProps = ComponentProps<typeof Input.TextArea>;

function QuestionInput(props: TextAreaProps, ref: Ref<GetRef<typeof Input.TextArea>>) {
  const t = useText();
  return <Input.TextArea {...props} ref={ref} aria-label={t("chat.question")} maxLength={10_000} />;
}

/** Which projects are asked, and how. */
function Choices({ asking, onAsking, projects, hasModel }: ComposerProps) {
  const t = useText();
  const options = [...namesOf(projects)].map(([value, label]) => ({ value, label }));
  const modes = [
    { value: "answer", label: t("chat.mode.answer"), title: t("chat.mode.answer.explain") },
    {
      value: "thorough",
      label: t("chat.mode.thorough"),
      title: t(hasModel ? "chat.mode.thorough.explain" : "chat.mode.thorough.no-model"),
      disabled: !isAgentPossible(projects, hasModel),
    },
    {
      value: "agent",
      label: t("chat.mode.agent"),
      title: t(hasModel ? "chat.mode.agent.explain" : "chat.mode.agent.no-model"),
      disabled: !isAgentPossible(projects, hasModel),
    },
  ];
  return (
    <>
      <Select
        size="small"
        variant="borderless"
        className="composer-projects"
        prefix={<FolderOpenOutlined aria-hidden />}
        placeholder={t("chat.projects.all")}
        aria-label={t("chat.projects")}
        options={options}
        popupMatchSelectWidth={false}
        optionFilterProp="label"
        mode="multiple"
        allowClear
        maxTagCount="responsive"
        value={[...asking.projectIds]}
        onChange={(projectIds) => onAsking({ ...asking, projectIds })}
      />
      <Segmented
        size="small"
        aria-label={t("chat.mode")}
        value={asking.isAgent ? "agent" : asking.isThorough ? "thorough" : "answer"}
        options={modes}
        onChange={(mode) => onAsking(withMode(asking, mode))}
      />
    </>
  );
}

function withMode(asking: Asking, mode: string): Asking {
  return { ...asking, isAgent: mode === "agent", isThorough: mode === "thorough" };
}
