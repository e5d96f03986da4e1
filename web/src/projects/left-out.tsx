import { Alert, Button, Input } from "antd";
import { useState } from "react";
import { get, type Schemas, useLoad } from "../api/client";
import { useText } from "../i18n";
import { Said, useWords } from "../i18n/said";
import { Loading, Trouble } from "../parts";
import { countsOf, type LeftOutFile, matching } from "./left-out-files";
import type { Project } from "./listed";
import { Readers } from "./readers";

const STEP = 200;

/** Every file that is not in the index, and why. */
export function LeftOut({ project }: { readonly project: Project }) {
  const t = useText();
  const status = useLoad(
    (signal) =>
      get<Schemas["ProjectStatusOut"]>(`/projects/${encodeURIComponent(project.id)}/status`, undefined, signal),
    [project.id, project.generation],
  );
  if (status.problem) return <Trouble problem={status.problem} onRetry={status.reload} />;
  if (!status.value) return <Loading />;
  const { skipped, failures, pending, paused, reader_hosts, readers_problem } = status.value;
  return (
    <div className="left-out">
      {paused && <Alert type="warning" showIcon title={t("projects.left-out.paused", { why: paused })} />}
      {pending > 0 && project.generation > 0 && (
        <Alert type="info" showIcon title={t("projects.left-out.pending", { n: pending })} />
      )}
      <Readers hosts={reader_hosts} problem={readers_problem} />
      {failures.length > 0 && (
        <section aria-label={t("projects.left-out.failed")}>
          <h3>{t("projects.left-out.failed")}</h3>
          <p className="soft">{t("projects.left-out.failed.hint")}</p>
          <Table files={failures} />
        </section>
      )}
      {skipped.length > 0 ? <Skipped files={skipped} /> : <p className="soft">{t("projects.left-out.none")}</p>}
    </div>
  );
}

function Skipped({ files }: { readonly files: readonly LeftOutFile[] }) {
  const t = useText();
  const words = useWords();
  const notes = new Map(files.map((file) => [file.reason, file.reason_parts]));
  const [reason, setReason] = useState("");
  const [text, setText] = useState("");
  const [most, setMost] = useState(STEP);
  const found = matching(files, reason, text);
  const chips = [["", files.length] as const, ...countsOf(files)];
  return (
    <section aria-label={t("projects.left-out")}>
      <p className="soft">{t("projects.left-out.hint")}</p>
      <div className="chips" role="group" aria-label={t("projects.left-out.reason")}>
        {chips.map(([name, count]) => (
          <button
            key={name}
            type="button"
            className="chip"
            aria-pressed={reason === name}
            onClick={() => setReason(name)}
          >
            {name ? words(notes.get(name), name) : t("projects.left-out.all")} <span>{count}</span>
          </button>
        ))}
      </div>
      <Input
        allowClear
        aria-label={t("projects.left-out.find")}
        placeholder={t("projects.left-out.find")}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Table files={found.slice(0, most)} />
      {found.length > most && (
        <Button block onClick={() => setMost(most + STEP)}>
          {t("projects.left-out.more", { n: Math.min(found.length - most, STEP) })}
        </Button>
      )}
    </section>
  );
}

function Table({ files }: { readonly files: readonly LeftOutFile[] }) {
  const t = useText();
  return (
    <table className="left-out-table">
      <thead>
        <tr>
          <th scope="col">{t("projects.left-out.path")}</th>
          <th scope="col">{t("projects.left-out.reason")}</th>
        </tr>
      </thead>
      <tbody>
        {files.map((file) => (
          <tr key={file.path}>
            <td className="mono">{file.path}</td>
            <td>
              <Said text={file.reason} notes={file.reason_parts} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
