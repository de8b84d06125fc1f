import type { Options } from '../core/options/options.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import { parseHostRule } from '../language/host-rules.ts';
import type { WorkflowMember } from '../workflow/workflow-set.ts';

interface SandboxedWorkflow {
  readonly source: WorkflowSource;
  members(): readonly Pick<WorkflowMember, 'manifest' | 'source'>[];
}

/** True if a turn of a run may need a sandbox: all of them do, or those of a state or of a workflow that is called. */
export const needsSandbox = (workflow: SandboxedWorkflow, { sandbox }: Pick<Options, 'sandbox'>): boolean =>
  sandbox ?? workflow.members().some(({ manifest, source }) => manifest.sandbox || hasSandboxedState(source));

const hasSandboxedState = ({ files }: WorkflowSource): boolean =>
  files.some((file) => file.kind === 'state' && file.state.sandbox === true);

/** Refuses a run, before anything is paid, whose turns could have no sandbox or could not reach the hosts that its workflows need. */
export async function requireSandbox(
  workflow: SandboxedWorkflow,
  options: Options,
  workFolder: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (!needsSandbox(workflow, options)) return;
  const { checkSandbox } = await import('../turns/sandbox/check.ts');
  await checkSandbox(workFolder, options, env);
  const needed = new Set(workflow.members().flatMap(({ manifest }) => manifest.hosts));
  const missing = [...needed].filter((host) => !isCovered(host, options.sandboxHosts));
  if (missing.length === 0) return;
  const hosts = missing.join(' and ');
  throw new RaymondError(`this workflow needs to reach ${hosts}, which its sandbox does not permit`, {
    exitCode: EXIT.usage,
    hint: `Permit it with ${missing.map((host) => `--sandbox-host ${host}`).join(' ')}, or with \`sandbox_hosts\` in your config.`,
  });
}

/** True if the user permits as much as a workflow needs. */
function isCovered(needed: string, permitted: readonly string[]): boolean {
  const wanted = parseHostRule(needed);
  return permitted.some((text) => {
    const rule = parseHostRule(text);
    if (rule === undefined || wanted === undefined) return false;
    const isSamePort = rule.port === wanted.port || (rule.port === null && [80, 443].includes(wanted.port ?? 443));
    if (!isSamePort) return false;
    if (rule.name === wanted.name && rule.isWildcard === wanted.isWildcard) return true;
    return rule.isWildcard && wanted.name.endsWith(`.${rule.name}`);
  });
}
