import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Event } from '../core/event.ts';
import { runId } from '../core/ids.ts';
import { isPrompt } from '../core/names.ts';
import { changedOptions, DEFAULT_OPTIONS, newRun, type Options } from '../core/run.ts';
import type { Finding } from '../core/state.ts';
import { opening } from '../core/step.ts';
import { findRaymondFolder, layoutOf } from '../store/layout.ts';
import { createRun } from '../store/store.ts';
import { showFinding } from '../workflow/invalid.ts';
import type { Workflow } from '../workflow/load.ts';
import { thisPlatform } from './platform.ts';
import { type Place, type Running, setOff } from './running.ts';
import { seenFrom } from './seen-from.ts';
import { IN_EARNEST, type Staging } from './staging.ts';

export { openWorkflow, type Workflow } from '../workflow/load.ts';

export interface RunRequest extends Place {
  readonly options?: Partial<Options>;
  /** The value of `{{result}}` in the first state. */
  readonly input?: string;
  readonly runId?: string;
  /** What the run is called; the workflow's name if this is left out. */
  readonly name?: string;
}

/** Starts a run of a workflow: a state file, a folder or a zip. */
export const runWorkflow = (path: string, request: RunRequest = {}): Promise<Running> =>
  beginRun(path, request, IN_EARNEST);

/** Starts a run, in earnest or as a rehearsal. */
export async function beginRun(path: string, request: RunRequest, staging: Staging): Promise<Running> {
  const cwd = resolve(request.cwd ?? process.cwd());
  const options = changedOptions(DEFAULT_OPTIONS, request.options ?? {});
  const env = request.env ?? process.env;
  const whole = resolve(cwd, path);
  const workflow = await staging.openWorkflow(whole, thisPlatform()).catch((error: unknown) => {
    throw seenFrom(cwd, whole, error);
  });
  const answerer = await staging.answererOf(options, env, workflow);
  if (await hasPrompts(workflow)) await answerer.find();
  const startedAt = staging.clock.now();
  const name = request.name ?? workflow.name;
  const offset = -new Date(startedAt).getTimezoneOffset();
  const run = newRun({
    id: request.runId ?? runId(name, startedAt, offset, randomBytes(2).toString('hex')),
    name,
    workflow: { name: workflow.name, path: workflow.path, platform: workflow.platform },
    startedAt,
    options,
    state: workflow.entry,
    cwd,
    input: request.input ?? null,
  });
  const layout = layoutOf(findRaymondFolder(cwd));
  const warn = (finding: Finding): Event => {
    return { kind: 'warning', at: startedAt, agent: 'main', state: workflow.entry, message: showFinding(finding) };
  };
  const events = [...opening(run), ...workflow.findings.map(warn)];
  const store = await createRun(layout, run, events, staging.store);
  return setOff({ run, options, layout, store, workflow, env, answerer, staging }, events, [], request);
}

/** Whether Claude Code is needed at all. */
async function hasPrompts(workflow: Workflow): Promise<boolean> {
  const { files } = await workflow.scope();
  return files.some((file) => isPrompt(file));
}
