/** The files of a working folder at one moment, kept in Raymond's own git repository. */
export interface FolderSnapshot {
  /** The tree of git that holds them. */
  readonly tree: string;
  /** The folder: the top of a git project, else the working folder itself. */
  readonly folder: string;
  /** The commit that the project was at; null outside of one, and before its first commit. */
  readonly head: string | null;
}
