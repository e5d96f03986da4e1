import { get, type Load, type Schemas, useLoad } from "../api/client";

type BlamedLines = Schemas["BlamedLinesOut"];

/** The groups of lines that come from one commit, by the number of their first line. */
export type Blame = ReadonlyMap<number, BlamedLines>;

/** Asks, once it is wanted, which commit each of the lines that are shown comes from. */
export function useBlame(isWanted: boolean, file: Schemas["FileLinesOut"]): Load<Blame | undefined> {
  const { project_id, path, start_line, end_line } = file;
  return useLoad(
    async (signal) => {
      if (!isWanted) return undefined;
      const found = await get<Schemas["BlameOut"]>("/blame", { project_id, path, start_line, end_line }, signal);
      return new Map(found.lines.map((group) => [group.start_line, group]));
    },
    [isWanted, file],
  );
}
