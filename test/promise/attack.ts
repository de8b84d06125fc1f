import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { RigSetup } from '../e2e/rig.ts';

/** Where the workflow of an attacked run is. */
export const WORKFLOW_PLACES = ['inside', 'outside'] as const;
export type WorkflowPlace = (typeof WORKFLOW_PLACES)[number];

/** The workflow folder of an attacked run, seen from its working directory. */
export const WORKFLOW_FOLDER = { inside: 'flow', outside: '../workflow' } as const;

/** The name of the folder that the agents of a rig work in. */
export const WORK_FOLDER = 'work';

/** A workflow that is inside or outside of the project. */
export const placedStates = (
  place: WorkflowPlace,
  states: RigSetup['states'],
): Pick<RigSetup, 'states' | 'workflow'> =>
  place === 'outside'
    ? { states }
    : {
        states: Object.fromEntries(
          Object.entries(states).map(([name, text]) => [`../${WORK_FOLDER}/flow/${name}`, text]),
        ),
        workflow: `../${WORK_FOLDER}/flow`,
      };

/** Orders the model to use a tool. */
export const tool = (name: string, input: object): string => `«tool ${name} ${JSON.stringify(input)}»`;

/** Orders the model to write a file. Paths may hold variables of the prompt. */
export const write = (path: string, content = '{}\n'): string => tool('Write', { file_path: path, content });

/** Orders the model to run a command. */
export const bash = (command: string): string => tool('Bash', { command, description: 'an attack' });

/** Those of the paths at which something is, also a link that leads nowhere. */
export const present = (folder: string, paths: readonly string[]): readonly string[] =>
  paths.filter((path) => lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined);
