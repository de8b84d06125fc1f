/** What a `cd` of an answer leads to: an absolute path, null if there is no such folder, or why it may not go there. */
export type NamedFolder = string | null | { readonly refused: string };

/** For each folder named by a `cd` of an answer, what it leads to. */
export type NamedFolders = Readonly<Record<string, NamedFolder>>;
