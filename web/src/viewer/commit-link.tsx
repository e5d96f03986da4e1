import { commitAt } from "../search/editors";

interface CommitLinkProps {
  /** The address of the repository; "" where it is not known. */
  readonly url: string;
  readonly commit: string;
}

/** The beginning of a hash; a link to the commit at the host of its repository, where that is known. */
export function CommitLink({ url, commit }: CommitLinkProps) {
  const found = commitAt(url, commit);
  const hash = <code>{commit.slice(0, 10)}</code>;
  if (!found) return hash;
  return (
    <a href={found.address} target="_blank" rel="noreferrer" title={found.name}>
      {hash}
    </a>
  );
}
