import { hasOwnName, hasSafeName, SAFE_NAME_PREFIX } from '../../language/environment-names.ts';
import { workflowNameOf } from '../../language/named-workflows.ts';
import { inputText } from '../../language/position.ts';
import type { RUN_VARIABLES } from '../../language/variable-names.ts';
import { formatJoinResults, resultsOf } from '../joins/join-results.ts';
import type { Agent } from './agent.ts';
import type { Run } from './run.ts';
import { workFoldersOf } from './work-folders.ts';

/** The variables that all agents have that are in the same workflow as this one. */
function runVariables({ options, workflows }: Run, { state }: Agent): Readonly<Record<string, string>> {
  const name = workflowNameOf(state);
  const called = name !== null && Object.hasOwn(workflows, name) ? workflows[name] : undefined;
  return called === undefined ? options.variables : { ...options.variables, ...called.variables };
}

/** The variables for `{{…}}` in an agent's prompt. The run's own variables win over those of the user. */
export function promptVariables(run: Run, agent: Agent): Readonly<Record<string, string>> {
  const { taskFolder, runFolder } = workFoldersOf(run, agent);
  const results = resultsOf(run, agent);
  const input = inputText(agent.input);
  const own: { readonly [Name in keyof typeof RUN_VARIABLES]?: string } = {
    workflow_id: run.id,
    agent_id: agent.id,
    state: agent.state,
    ...(taskFolder !== null && { task_folder: taskFolder }),
    ...(runFolder !== null && { run_folder: runFolder }),
    ...(agent.askId !== null && { ask_id: agent.askId }),
    ...(results !== null && { results: formatJoinResults(results) }),
    ...(results !== null && results.file !== null && { results_file: results.file }),
    ...(input !== null && { result: input, input }),
    ...(agent.error !== null && { error: agent.error }),
  };
  const { evaluation } = agent;
  const evaluated = evaluation === null ? {} : { output: evaluation.text, transition: evaluation.transition };
  return { ...runVariables(run, agent), ...agent.variables, ...own, ...evaluated };
}

/** The variables of a run and of an agent's fork as the environment of its scripts has them. */
export function environmentVariables(run: Run, agent: Agent): Readonly<Record<string, string>> {
  const { platform } = run.workflow;
  const all = [
    ...Object.entries(runVariables(run, agent)).map((entry) => ({ entry, origin: 'user' as const })),
    // Workers of older state files do not say who forked them.
    ...Object.entries(agent.variables).map((entry) => ({ entry, origin: agent.forkedBy ?? 'prompt' })),
  ].filter(({ entry: [name, value] }) => hasSafeName(name) && !value.includes('\0'));
  return Object.fromEntries([
    ...all.filter(({ entry: [name], origin }) => hasOwnName(name, origin, platform)).map(({ entry }) => entry),
    ...all.map(({ entry: [name, value] }) => [`${SAFE_NAME_PREFIX}${name}`, value] as const),
  ]);
}
