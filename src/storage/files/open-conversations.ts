import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FolderLayout } from '../../disk/layout.ts';
import { isSameProcess } from '../../process/process-table.ts';
import { recordedExit, recordedWrapper } from '../../process/turn-files.ts';

/** Counts the processes of Claude Code that take several turns of a run and are there now, at work or between two turns. */
export function countOpenConversations(layout: FolderLayout, run: string): number {
  const folder = layout.conversationsFolder(run);
  return listNames(folder).filter((name) => {
    const dir = join(folder, name);
    const wrapper = recordedExit(dir) === undefined ? recordedWrapper(dir) : undefined;
    return wrapper !== undefined && isSameProcess(wrapper) && isAlive(wrapper.pid);
  }).length;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
