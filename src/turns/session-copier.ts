/** A conversation of an earlier run that another run is to continue from, as it was at some moment. */
export interface SessionCut {
  readonly session: string;
  /** The id of the copy. */
  readonly copy: string;
  /** The last message of then; null if none is known. */
  readonly message: string | null;
  /** The folder in which it was used, and that in which the copy will be. */
  readonly from: string;
  readonly to: string;
  /** A folder with links to conversations of the earlier run. */
  readonly links: string;
  /** Paths that the copy must not lead to, each with the one that stands for it. */
  readonly moved: readonly (readonly [from: string, to: string])[];
}

/** Copies conversations, cut at some moment. Each backend that has any implements it. */
export interface SessionCopier {
  /** The files that copying makes, so that they can be removed if the copying is cut short. */
  filesOf(cut: SessionCut): Promise<readonly string[]>;
  /** Makes the copy, or overwrites one of the same id; returns why that is not possible. */
  copy(cut: SessionCut): Promise<string | null>;
}
