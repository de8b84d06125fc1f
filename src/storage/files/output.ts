import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderLayout } from '../../disk/layout.ts';
import { errorCodeOf } from '../../errors.ts';
import { followChunks, readChunks } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { type OutputChunk, TURN_STREAMS, type TurnOutput } from '../storage.ts';

/** Creates the reader of turns whose files are in their folders: nothing has to be published. */
export function createFileOutput(layout: FolderLayout): TurnOutput {
  const find = async (run: string, turn: Parameters<TurnOutput['read']>[1]): Promise<string | null> => {
    if ('state' in turn) return layout.turnFolder(run, turn);
    const names = await readdir(layout.turnsFolder(run)).catch((): string[] => []);
    const name = names.find((each) => layout.parseTurnFolder(each, turn.agent)?.number === turn.number);
    return name === undefined ? null : join(layout.turnsFolder(run), name);
  };
  return {
    async *read(run, turn, stream, until) {
      const folder = await find(run, turn);
      if (folder === null) return;
      const file = turnFiles(folder)[stream];
      // The prompt is complete before anything starts.
      if (until === undefined || stream === 'stdin') yield* readFinished(file);
      else yield* followChunks(file, { until });
    },
    async sizes(run, turn) {
      const folder = await find(run, turn);
      if (folder === null) return {};
      const files = turnFiles(folder);
      return Object.fromEntries(
        TURN_STREAMS.flatMap((stream) => {
          const stats = statSync(files[stream], { throwIfNoEntry: false });
          return stats === undefined ? [] : [[stream, stats.size]];
        }),
      );
    },
    findFolder: (run, turn) => layout.turnFolder(run, turn),
    publish: () => async () => {},
  };
}

async function* readFinished(file: string): AsyncGenerator<OutputChunk> {
  let offset = 0;
  try {
    for await (const bytes of readChunks(file)) {
      yield { offset, bytes };
      offset += bytes.length;
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
  }
}
