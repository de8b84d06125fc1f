import type { Event } from '../../src/core/run/event.ts';
import type { FolderLayout } from '../../src/disk/layout.ts';
import { createFileJournal } from '../../src/storage/files/journal.ts';
import type { JournalPosition } from '../../src/storage/run-file.ts';

/** Reads the events of a run in files, each with its step and the position after it. */
export async function* readEvents(
  layout: FolderLayout,
  id: string,
  after?: JournalPosition,
): AsyncGenerator<JournalPosition & { readonly event: Event }> {
  for await (const { seq, offset, change } of createFileJournal(layout).read(id, after))
    for (const event of change.events) yield { seq, offset, event };
}
