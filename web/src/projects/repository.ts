/** Hosts whose addresses people write without `https://`; a folder could have any other such name. */
const KNOWN_HOSTS = /^(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)\/[\w.-]+(?:\/[\w.-]+)+\/?$/i;

/** Returns the address of a repository when that was typed in the place of a folder, else "". */
export function addressIn(text: string): string {
  if (KNOWN_HOSTS.test(text.trim())) return `https://${text.trim().replace(/\/$/, "")}`;
  const found = /^(?:git clone\s+)?([a-z][a-z+]*:\/\/\S+|[\w.-]+@[\w.-]+:\S+)$/i.exec(text.trim());
  return found?.[1] ?? "";
}

/** Returns what a repository is called by its address. */
export function nameOf(address: string): string {
  const parts = address.split(/[/:]/).filter(Boolean);
  return parts.at(-1)?.replace(/\.git$/, "") ?? "";
}
