import { stringify } from 'smol-toml';
import { parseConfig } from '../../src/config/config.ts';
import { RaymondError } from '../../src/errors.ts';
import { groupBy } from '../../src/graph/group-by.ts';
import { isStateFile, type Platform, type Scope } from '../../src/language/state-names.ts';
import { checkScenarioFile, parseScenarioFile, resolveWorkflowPaths } from '../../src/scenario/file.ts';
import { readManifest } from '../../src/workflow/manifest.ts';
import { parseOneFileState } from '../../src/workflow/one-file.ts';
import { readOneFileStates } from '../../src/workflow/one-file-states.ts';
import { parsePrompt } from '../../src/workflow/prompt-file.ts';
import { newFindingReport } from '../../src/yaml/finding-report.ts';
import { readYaml } from '../../src/yaml/read-yaml.ts';

/** A value as YAML, in which it can only mean this. */
const yaml = (value: unknown): string =>
  JSON.stringify(value).replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A prompt with this frontmatter and nothing else. */
export const frontmatterText = (value: unknown): string => `---\n${yaml(value)}\n---\n`;

/**
 * Whether the loader takes a frontmatter without a word. That a key is unknown is only a warning, so that workflows of
 * later versions load, but an editor should say it. That a key is not supported yet is no fault of its value.
 */
export function acceptsFrontmatter(value: unknown, platform: Platform = 'unix'): boolean {
  const { findings } = parsePrompt('A.md', frontmatterText(value), platform);
  return findings.every(({ message }) => message.includes('is not supported yet'));
}

/**
 * Whether a one-file workflow, or without states a manifest, is taken without a word, apart from what is not supported yet. Policies
 * are looked at by themselves: whether the states exist that they name is not for a schema.
 */
export function acceptsWorkflow(value: unknown, platform: Platform = 'unix'): boolean {
  const report = newFindingReport('a.yaml');
  const read = readYaml(yaml(value), report);
  const hasStates = typeof value === 'object' && value !== null && 'states' in value;
  const { states, rest } = hasStates ? readOneFileStates(read, 'a.yaml', report) : { states: new Map(), rest: read };
  readManifest(rest, report);
  const parsed = [...states.values()].map((state) =>
    parseOneFileState('a.yaml', state, yaml(value).split('\n'), platform),
  );
  const findings = parsed.flatMap((file) => (file.kind === 'state' ? file.findings : []));
  return [...report.findings, ...findings].every(({ message }) => /not supported yet|has no effect yet/.test(message));
}

/** Whether a scenario file is sound on every platform, for a workflow of these states. */
export function acceptsScenario(value: unknown, files: readonly string[] = statesIn(value)): boolean {
  const file = parseScenarioFile('a.test.yaml', yaml(value), '.');
  const platforms: readonly Platform[] = ['unix', 'windows'];
  const scopes = (platform: Platform) =>
    resolveWorkflowPaths(file).map(() => ({ files, platform, called: workflowsIn(value, platform) }));
  return platforms.every((platform) => isAccepted(() => checkScenarioFile(file, scopes(platform))));
}

/** All names that such a file could use for a state. */
const statesIn = (value: unknown): readonly string[] =>
  textsIn(value)
    .flatMap((name) => [name, name.slice(name.indexOf('/') + 1)])
    .map((name) => (isStateFile(name) ? name : `${name}.md`));

/** All workflows that such a file could take for called ones, with the states that it could name in them. */
function workflowsIn(value: unknown, platform: Platform): Readonly<Record<string, Scope>> {
  const states = textsIn(value)
    .flatMap((name) => [name, name.slice(name.indexOf('/') + 1)])
    .map((name) => name.split('/'))
    .filter(([workflow = '', , ...more]) => workflow !== '' && more.length === 0);
  const named = groupBy(states, ([workflow]) => workflow ?? '');
  return Object.fromEntries(
    [...named].map(([workflow, group]) => {
      const files = group.map(([, name = '']) => (isStateFile(name) ? name : `${name}.md`));
      return [workflow, { files, platform }];
    }),
  );
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsIn(each)]);
}

/** Whether a config file can be used. */
export const acceptsConfig = (table: unknown): boolean =>
  isAccepted(() => parseConfig(stringify(table), 'config.toml'));

function isAccepted(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof RaymondError) return false;
    throw error;
  }
}
