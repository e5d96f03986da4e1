/** Where else a place can be opened: in an editor on this machine, or at the host of its repository. */

interface Project {
  readonly root: string;
  readonly url: string;
  readonly branch: string;
  readonly revision: string;
}

interface Place {
  readonly path: string;
  readonly line: number;
  readonly endLine: number;
  /** The hash of a commit, for a place that is one. */
  readonly commit?: string;
}

export interface Elsewhere {
  readonly name: string;
  readonly address: string;
}

/** Returns what can open a place. An editor opens only files of the machine on which the browser runs. */
export function elsewhereOf(project: Project, place: Place, host: string): readonly Elsewhere[] {
  // A commit is no file: no editor opens it.
  if (place.commit) return [commitAt(project.url, place.commit)].filter((found) => found !== undefined);
  return [...(project.url || !isHere(host) ? [] : editors(project.root, place)), ...codeHost(project, place)];
}

function editors(root: string, { path, line }: Place): Elsewhere[] {
  if (!root) return [];
  const slashed = `${root.replaceAll("\\", "/").replace(/\/+$/, "")}/${path}`;
  const file = slashed.split("/").map(encodeURIComponent).join("/");
  return [
    { name: "VS Code", address: `vscode://file/${file.replace(/^\/+/, "")}:${line}` },
    { name: "IntelliJ IDEA", address: `idea://open?file=${encodeURIComponent(slashed)}&line=${line}` },
  ];
}

function codeHost(project: Project, { path, line, endLine }: Place): Elsewhere[] {
  const web = webAddress(project.url);
  if (!web) return [];
  const revision = project.revision || project.branch || "HEAD"; // HEAD: of the default branch
  const at = revision.split("/").map(encodeURIComponent).join("/");
  const file = path.split("/").map(encodeURIComponent).join("/");
  const lines = `L${line}`;
  switch (hostOf(web)) {
    case "GitHub":
      return [{ name: "GitHub", address: `${web}/blob/${at}/${file}#${lines}-L${endLine}` }];
    case "GitLab":
      return [{ name: "GitLab", address: `${web}/-/blob/${at}/${file}#${lines}-${endLine}` }];
    case "Bitbucket":
      return [{ name: "Bitbucket", address: `${web}/src/${at}/${file}#lines-${line}:${endLine}` }];
    default:
      return [];
  }
}

/** Returns where the host of a repository shows a commit, by its hash; none for a host that is not known. */
export function commitAt(url: string, commit: string): Elsewhere | undefined {
  const web = webAddress(url);
  const host = web && hostOf(web);
  if (!host || !/^[0-9a-f]{7,64}$/.test(commit)) return undefined;
  const way = { GitHub: "commit", GitLab: "-/commit", Bitbucket: "commits" }[host];
  return { name: host, address: `${web}/${way}/${commit}` };
}

function hostOf(web: string): "GitHub" | "GitLab" | "Bitbucket" | undefined {
  const { hostname } = new URL(web);
  if (/github/.test(hostname)) return "GitHub";
  if (/gitlab/.test(hostname)) return "GitLab";
  return /bitbucket/.test(hostname) ? "Bitbucket" : undefined;
}

/** The address of a repository as a browser opens it: only https, without a name and password. */
function webAddress(url: string): string {
  const ssh = /^(?:ssh:\/\/)?git@([\w.-]+)[:/](.+)$/.exec(url);
  try {
    const found = new URL(ssh ? `https://${ssh[1]}/${ssh[2]}` : url);
    if (found.protocol !== "https:") return "";
    return `https://${found.host}${found.pathname.replace(/\/+$/, "").replace(/\.git$/, "")}`;
  } catch {
    return "";
  }
}

function isHere(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}
