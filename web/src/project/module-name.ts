/** Returns how a folder is called on a map of the folder above it: `tax` in `shop`, "." for that folder itself. */
export function moduleName(path: string, folder: string): string {
  if (path === folder) return ".";
  return folder ? path.slice(folder.length + 1) : path;
}
