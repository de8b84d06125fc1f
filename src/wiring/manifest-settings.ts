import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Options } from '../core/options/options.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import type { Manifest } from '../workflow/manifest.ts';
import type { WorkflowMember } from '../workflow/workflow-set.ts';

/** The options of a run that its workflow's manifest sets, where nobody else does. */
export const manifestOptions = ({ budgetMicros, variables, workspace, sandbox }: Manifest): Partial<Options> => ({
  ...(workspace !== null && { workspace }),
  ...(sandbox && { sandbox }),
  ...(budgetMicros !== null && { budgetMicros }),
  ...(Object.keys(variables).length > 0 && { variables }),
});

/** Refuses to start a workflow that needs an input without one. */
export function requireInput({ input: { mode, label, description } }: Manifest, input: string | undefined): void {
  if (mode !== 'required' || (input !== undefined && input.trim() !== '')) return;
  const what = label ?? description;
  throw new RaymondError(`this workflow needs an input${what === null ? '' : `: ${what}`}`, {
    exitCode: EXIT.usage,
    hint: 'Give it with --input TEXT, --input @FILE, or --input - for stdin.',
  });
}

/** Refuses to start a workflow that cannot do without people if nobody is to be asked. */
export function requirePeople(workflow: ManifestAndSource, { onAsk }: Pick<Options, 'onAsk'>): void {
  if (onAsk !== 'fail' || !needsPeople(workflow)) return;
  throw new RaymondError('this workflow needs the answers of people, and --on-ask fail lets every question fail', {
    exitCode: EXIT.usage,
    hint: 'Use --on-ask wait, or --on-ask exit and answer later with `raymond answer`.',
  });
}

/** Settings other than the user's that decide how a workflow runs. */
export interface ManifestAndSource {
  readonly manifest: Manifest;
  readonly source: WorkflowSource;
  /** The workflow itself and those that it calls. */
  members(): readonly Pick<WorkflowMember, 'manifest'>[];
}

/** True if a workflow needs answers from people; `auto` means that a state permits `<ask>`, or that a workflow it calls needs them. */
export const needsPeople = ({ manifest: { requiresHumanInput }, source, members }: ManifestAndSource): boolean =>
  requiresHumanInput === 'auto'
    ? source.files.some((file) => file.kind === 'state' && file.state.rules.policy.some(({ tag }) => tag === 'ask')) ||
      members().some(({ manifest }) => manifest.requiresHumanInput === true)
    : requiresHumanInput;

/** The folder that the agents work in: the one that the manifest names, seen from where the user stands. */
export function resolveWorkingDirectory(
  { workingDirectory }: Manifest,
  { workspace }: Pick<Options, 'workspace'>,
  cwd: string,
): string {
  if (workingDirectory === null) return cwd;
  if (workspace !== null)
    throw new RaymondError("the workflow's `working_directory` and a workspace exclude each other", {
      exitCode: EXIT.usage,
      hint: 'Leave out one of them: --dir . or --workspace none does.',
    });
  const folder = resolve(cwd, workingDirectory);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new RaymondError(`the workflow's \`working_directory\` is not a folder here: ${folder}`, {
    exitCode: EXIT.usage,
    hint: 'Create it, start the run elsewhere, or name another folder with --dir.',
  });
}

const OUTER_VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** An environment with what a manifest sets. What it takes from `outside` and is not set there is empty. */
export function applyManifestEnvironment(
  { environment }: Manifest,
  env: NodeJS.ProcessEnv,
  outside: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const fill = (text: string): string => text.replace(OUTER_VARIABLE, (_, name: string) => outside[name] ?? '');
  const own = Object.entries(environment).map(([name, text]) => [name, fill(text)] as const);
  return { ...env, ...Object.fromEntries(own) };
}

/** Warns of what the manifest takes from the environment and is not set there, and of an input that it does not want. */
export function warnOfManifest(
  { environment, input: { mode } }: Manifest,
  env: NodeJS.ProcessEnv,
  input: string | undefined,
): readonly string[] {
  const taken = Object.entries(environment).flatMap(([name, text]) =>
    [...text.matchAll(OUTER_VARIABLE)].map(([, outer = '']) => ({ name, outer })),
  );
  return [
    ...taken
      .filter(({ outer }) => env[outer] === undefined)
      .map(
        ({ name, outer }) =>
          `the workflow's \`environment\` takes ${name} from ${outer}, which is not set: it is empty`,
      ),
    ...(mode === 'none' && input !== undefined ? ['the workflow says that it takes no input (`mode: none`)'] : []),
  ];
}
