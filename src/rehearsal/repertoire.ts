import { resolve } from 'node:path';
import { RaymondError } from '../errors.ts';
import { thisPlatform } from '../raymond/platform.ts';
import { openFile, type ScenarioFile, workflowOf } from '../scenario/file.ts';
import type { Rehearsal } from '../scenario/rehearsal.ts';
import { rehearsalsIn } from '../scenario/rehearsals.ts';
import { openWorkflow, type Workflow } from '../workflow/load.ts';

/** A scenario with its workflow. */
export interface Piece {
  /** As messages name it. */
  readonly file: string;
  readonly workflow: Workflow;
  readonly rehearsal: Rehearsal;
}

/** A file that cannot be used, or whose workflow cannot. */
export interface Unusable {
  readonly file: string;
  readonly error: RaymondError;
}

/** Everything there is to play, and the files of which nothing can be played. */
export interface Repertoire {
  readonly pieces: readonly Piece[];
  readonly unusable: readonly Unusable[];
}

/** Reads all files and checks each against its workflow. */
export async function readRepertoire(files: readonly string[], cwd: string): Promise<Repertoire> {
  const workflows = new Map<string, Promise<Workflow>>();
  const workflowAt = (path: string): Promise<Workflow> => {
    const opened = workflows.get(path) ?? workflowToPlay(path);
    workflows.set(path, opened);
    return opened;
  };
  const pieces: Piece[] = [];
  const unusable: Unusable[] = [];
  for (const file of files) {
    try {
      pieces.push(...(await piecesIn(openFile(resolve(cwd, file), file), workflowAt)));
    } catch (error) {
      if (!(error instanceof RaymondError)) throw error;
      unusable.push({ file, error });
    }
  }
  return { pieces, unusable };
}

/** The scenarios of a file with its workflow. */
export async function piecesIn(file: ScenarioFile, workflowAt = workflowToPlay): Promise<readonly Piece[]> {
  const workflow = await workflowAt(workflowOf(file));
  return rehearsalsIn(file, await workflow.scope()).map((rehearsal) => ({ file: file.name, workflow, rehearsal }));
}

const workflowToPlay = async (path: string): Promise<Workflow> =>
  rememberingWorkflow(await openWorkflow(path, thisPlatform()));

/** A workflow whose files are read once: for all of a test they are as they were at first. */
async function rememberingWorkflow(workflow: Workflow): Promise<Workflow> {
  const scope = await workflow.scope();
  const states = new Map<string, ReturnType<Workflow['state']>>();
  return {
    ...workflow,
    scope: async () => scope,
    state(file) {
      const state = states.get(file) ?? workflow.state(file);
      states.set(file, state);
      return state;
    },
  };
}
