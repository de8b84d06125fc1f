import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type CliProject, type CommandResult, newCliProject } from '../cli/cli-project.ts';

/** The workflow is in the folder that the agents work in, or elsewhere; either way they can write to it as `flow`. */
export const PLACES = ['inside the project', 'outside the project'] as const;

export type Place = (typeof PLACES)[number];

/** What an agent writes to have it run. */
export const EVIL = "touch pwned\necho '<result>pwned</result>'\n";

/** The id of every run. */
export const RUN = 'r1';

/** A project with a workflow and canned answers that write files. */
export interface Attack extends CliProject {
  /** The workflow's own path. */
  readonly flow: string;
  readonly write: (path: string, content: string | Uint8Array) => void;
  /** Runs the workflow with these answers. */
  readonly run: (answers: Readonly<Record<string, unknown>>, ...flags: readonly string[]) => Promise<CommandResult>;
  readonly isPwned: () => boolean;
}

/** Makes a project with these files of a workflow; `../NAME/FILE` is beside it. */
export function newAttack(place: Place, files: Readonly<Record<string, string | Uint8Array>>, name = 'flow'): Attack {
  const project = newCliProject();
  const base = place === 'inside the project' ? project.cwd : makeFolder();
  // What marks the root of the workflows.
  mkdirSync(join(base, '.git'));
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, typeof content === 'string' && content.startsWith('#!') ? { mode: 0o755 } : {});
  };
  for (const [path, content] of Object.entries(files)) write(join(base, 'flows', path), content);
  symlinkSync(join(base, 'flows'), join(project.cwd, 'flow'));
  const flow = join(base, 'flows', name);
  return {
    ...project,
    flow,
    write,
    run(answers, ...flags) {
      write(join(project.cwd, 'answers.yaml'), JSON.stringify({ answers }));
      return project.raymond('run', flow, '--agent', 'replay:answers.yaml', '--run-id', RUN, ...flags);
    },
    isPwned: () => existsSync(join(project.cwd, 'pwned')),
  };
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-outside-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
