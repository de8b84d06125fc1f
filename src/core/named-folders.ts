/** What a `cd` of an answer leads to: an absolute path, null if there is no such folder, or why it may not go there. */
export type NamedFolder = string | null | { readonly refused: string };

/** For each folder named by a `cd` of an answer, what it leads to. */
export type NamedFolders = Readonly<Record<string, NamedFolder>>;

/** What an `input-file` of an answer contains, or why it cannot be handed over. */
export type NamedFile = { readonly text: string } | { readonly problem: string };

/** For each file named by an `input-file` of an answer, its content. */
export type NamedFiles = Readonly<Record<string, NamedFile>>;
