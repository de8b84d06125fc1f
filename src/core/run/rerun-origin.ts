/** Where a run that begins in the middle of another comes from. */
export interface RerunOrigin {
  readonly run: string;
  /** The point that it begins at, in words: `main/7 (REVIEW.md)`. */
  readonly point: string;
  /** By conversation, the last message that it was copied with: a rerun of this run may need it before any turn of its own. */
  readonly ends: Readonly<Record<string, string>>;
  /** The folder with files that are laid over those of the workflow; null if there is none. */
  readonly overlay: string | null;
}
