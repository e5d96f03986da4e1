import { FolderOpenOutlined } from "@ant-design/icons";
import { Segmented, Select } from "antd";
import { useText } from "../i18n";
import { namesOf } from "../project-names";
import { type Asking, isAgentPossible } from "./asking";
import type { Project } from "./projects";

export interface ChoicesProps {
  readonly asking: Asking;
  readonly onAsking: (asking: Asking) => void;
  readonly projects: readonly Project[];
  readonly hasModel: boolean;
}

/** Which projects are asked, and how. */
export default function Choices({ asking, onAsking, projects, hasModel }: ChoicesProps) {
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
