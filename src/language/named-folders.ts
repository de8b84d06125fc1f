/** The target of a `cd`: an absolute path, null if there is no such folder, or the reason why it is refused. */
export type NamedFolder = string | null | { readonly refused: string };

/** For each folder named by a `cd` of an answer, what it leads to. */
export type NamedFolders = Readonly<Record<string, NamedFolder>>;

/** The content of an `input-file`, or the reason why it cannot be passed on. */
export type NamedFile = { readonly text: string } | { readonly problem: string };

/** For each file named by an `input-file` of an answer, its content. */
export type NamedFiles = Readonly<Record<string, NamedFile>>;
