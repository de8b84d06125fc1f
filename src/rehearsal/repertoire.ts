import { join, relative, resolve } from 'node:path';
import { isPrompt } from '../core/names.ts';
import { RaymondError } from '../errors.ts';
import { thisPlatform } from '../raymond/platform.ts';
import { seenFrom } from '../raymond/seen-from.ts';
import { openFile, refused, type ScenarioFile, workflowsOf } from '../scenario/file.ts';
import type { Rehearsal } from '../scenario/rehearsal.ts';
import { rehearsalsIn } from '../scenario/rehearsals.ts';
import type { Parts } from '../scenario/scenario.ts';
import { openWorkflow, type Workflow } from '../workflow/load.ts';

/** A scenario with its workflow. */
export interface Piece {
  /** As messages name it. */
  readonly file: string;
  readonly workflow: Workflow;
  /** The files of its states. */
  readonly states: readonly string[];
  /** Such a file as one would write it where the user stands. */
  readonly shown: (state: string) => string;
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
      pieces.push(...(await piecesIn(openFile(resolve(cwd, file), file), cwd, workflowAt)));
    } catch (error) {
      if (!(error instanceof RaymondError)) throw error;
      unusable.push({ file, error });
    }
  }
  return { pieces, unusable };
}

/** The scenarios of a file, each with its workflow. */
export async function piecesIn(
  file: ScenarioFile,
  cwd: string,
  workflowAt = workflowToPlay,
): Promise<readonly Piece[]> {
  const open = async (path: string): Promise<Workflow> => {
    try {
      return await workflowAt(path);
    } catch (error) {
      // What is wrong with the file may be why this is taken for its workflow.
      if (file.faults.length > 0) throw refused(file.name, file.faults);
      throw seenFrom(cwd, path, error);
    }
  };
  const workflows = await Promise.all(workflowsOf(file).map(open));
  const scopes = await Promise.all(workflows.map((workflow) => workflow.scope()));
  const rehearsals = rehearsalsIn(file, scopes);
  return workflows.flatMap((workflow, at): readonly Piece[] => {
    const [rehearsal, states = []] = [rehearsals[at], scopes[at]?.files];
    const shown = (state: string): string => relative(cwd, workflow.pathOf(state) ?? join(workflow.path, state));
    return rehearsal === undefined ? [] : [{ file: file.name, workflow, states, shown, rehearsal }];
  });
}

/** A scenario in which every script is run, also those that have an answer; itself, if it is one. */
export function withRealScripts(piece: Piece): Piece {
  const { rehearsal } = piece;
  const { scenario } = rehearsal;
  const parts = ofPrompts(scenario.parts);
  if (parts.size === scenario.parts.size && scenario.scripts === 'real') return piece;
  const [own, shared] = [ofPrompts(rehearsal.own), ofPrompts(rehearsal.shared)];
  return { ...piece, rehearsal: { ...rehearsal, own, shared, scenario: { ...scenario, parts, scripts: 'real' } } };
}

const ofPrompts = (parts: Parts): Parts => new Map([...parts].filter(([state]) => isPrompt(state)));

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
