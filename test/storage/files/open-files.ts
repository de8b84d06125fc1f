import { type FolderLayout, findLayout } from '../../../src/disk/layout.ts';
import { createFileStorage } from '../../../src/storage/files/storage.ts';
import type { RunStorage } from '../../../src/storage/storage.ts';

const NOBODY = { sign: async () => null, isSigned: () => false };

/** The runs in the files of a layout, for a user who signs nothing. */
export const storageOf = (layout: FolderLayout): RunStorage => createFileStorage(layout, NOBODY);

/** The runs in the files of a folder. */
export const storageIn = (folder: string): RunStorage => storageOf(findLayout(folder));
