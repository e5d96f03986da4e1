/** Returns the address of a repository when that was typed in the place of a folder, else "". */
export function addressIn(text: string): string {
  const found = /^(?:git clone\s+)?([a-z][a-z+]*:\/\/\S+|[\w.-]+@[\w.-]+:\S+)$/i.exec(text.trim());
  return found?.[1] ?? "";
}

/** Returns what a repository is called by its address. */
export function nameOf(address: string): string {
  const parts = address.split(/[/:]/).filter(Boolean);
  return parts.at(-1)?.replace(/\.git$/, "") ?? "";
}
