/** Returns the address of a repository when that was typed in the place of a folder, else "". */
export function addressIn(text: string): string {
  const found = /^(?:git clone\s+)?((?:https?|ssh|git):\/\/\S+|[\w.-]+@[\w.-]+:\S+)$/i.exec(text.trim());
  return found?.[1] ?? "";
}
