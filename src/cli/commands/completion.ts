import { resolve } from 'node:path';
import { listRunIdsHere, readRunNames } from '../../app/run-files.ts';
import { EXIT } from '../../errors.ts';
import { type CommandHandler, type CommandSpec, usageError } from '../command.ts';
import { completeWords } from '../completion/complete.ts';
import { COMPLETION_SCRIPTS, COMPLETION_SHELLS } from '../completion/scripts.ts';

/** Creates `raymond completion SHELL`: it prints a script for a shell, which calls `raymond completion words -- WORD…`. */
export const createCompletionHandler =
  (commands: readonly CommandSpec[]): CommandHandler =>
  async ([shell, ...words], _, { cwd, out }) => {
    if (shell === 'words') {
      const listRuns = (folders: readonly string[]) => listRunIdsHere(resolve(cwd, ...folders)).catch(() => []);
      const readRun = (folders: readonly string[], run: string) =>
        readRunNames(run, resolve(cwd, ...folders)).catch(() => ({ states: [], agents: [] }));
      const found = await completeWords(words, { commands, listRuns, readRun });
      const lines = found.words.map(({ word, help }) => `${word}\t${help}`);
      out(`${[found.files ? 'files' : 'words', ...lines].join('\n')}\n`);
      return EXIT.completed;
    }
    const known = COMPLETION_SHELLS.find((each) => each === shell);
    if (known === undefined) throw usageError('name your shell: raymond completion bash, zsh or fish');
    out(COMPLETION_SCRIPTS[known]);
    return EXIT.completed;
  };
