import { readdirSync } from 'node:fs';
import { type Platform, resolveEntry } from '../core/state-names.ts';
import { currentPlatform } from '../runtime/platform.ts';
import { usageError } from './usage-error.ts';

/** The path of the folder that the user is in, for whoever names none; refused if it holds no workflow. */
export function requireWorkflowHere(cwd: string, platform: Platform | undefined, hint: string): string {
  const { kind } = resolveEntry({ files: readdirSync(cwd), platform: platform ?? currentPlatform() });
  // One that starts in several states, or on another platform, is a workflow all the same.
  if (kind === 'unknown') throw usageError('there is no workflow in this folder', hint);
  return '.';
}
