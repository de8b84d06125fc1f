import type { DiffDocument } from './types.ts';

/** The changes of a turn, a visit or a run, as far as their document needs them. */
interface DiffFacts {
  readonly run: string;
  readonly turns: readonly string[];
  readonly folders: readonly {
    readonly folder: string;
    readonly files: DiffDocument['folders'][number]['files'];
    readonly patch: string;
    readonly isCut: boolean;
  }[];
}

/** The document of `raymond diff --json`. */
export const createDiffDocument = ({ run, turns, folders }: DiffFacts): DiffDocument => ({
  run_id: run,
  turns,
  folders: folders.map(({ folder, files, patch, isCut }) => ({ folder, files, patch, is_cut: isCut })),
});
