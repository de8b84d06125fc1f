import type { Platform } from '../core/names.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Finding } from '../core/state.ts';
import { splitPrompt } from './fence.ts';
import { EMPTY, type Frontmatter, KEYS } from './keys.ts';
import { newReport, quote, type Report } from './report.ts';
import { describe, readFields, type Value } from './value.ts';
import { readYaml } from './yaml.ts';

/** A prompt file as read: what its frontmatter says, the rest, and everything odd or wrong about it. */
export interface Prompt {
  readonly frontmatter: Frontmatter;
  readonly body: string;
  readonly findings: readonly Finding[];
}

/** A prompt together with the YAML that its frontmatter was read from, for whoever asks where it says what. */
export interface Dissected extends Prompt {
  readonly yaml: Value | undefined;
}

/** Reads a prompt's text. Any text gives a prompt; if the findings hold an error, it must not be used. */
export function readPrompt(file: string, text: string, platform: Platform): Prompt {
  const { yaml: _, ...prompt } = dissectPrompt(file, text, platform);
  return prompt;
}

/** The same, with nothing thrown away. */
export function dissectPrompt(file: string, text: string, platform: Platform): Dissected {
  const report = newReport(file);
  const parts = splitPrompt(text);
  if (parts.kind === 'unclosed') {
    report.error({ line: 1, column: 1 }, parts.message);
    return { frontmatter: EMPTY, body: '', findings: report.findings, yaml: undefined };
  }
  const yaml = parts.kind === 'fenced' ? readYaml(parts.yaml, report) : undefined;
  const frontmatter = yaml === undefined ? EMPTY : decode(yaml, report, platform);
  return { frontmatter, body: parts.body, findings: report.findings, yaml };
}

function decode(value: Value, report: Report, platform: Platform): Frontmatter {
  if (value.kind === 'nothing') return EMPTY;
  if (value.kind !== 'mapping') {
    report.error(value.at, `frontmatter is made of keys and values, such as \`model: sonnet\`, not ${describe(value)}`);
    return EMPTY;
  }
  let frontmatter = EMPTY;
  for (const field of readFields(value, report).values()) {
    const key = Object.hasOwn(KEYS, field.name) ? KEYS[field.name] : undefined;
    if (key === undefined) {
      const other = OTHER_WORDS.get(field.name.toLowerCase());
      const meant = other === undefined ? didYouMean(field.name, Object.keys(KEYS)) : ` (did you mean ${other}?)`;
      report.warning(field.at, `the key ${quote(field.name)} is unknown and has no effect${meant}`);
    } else if (field.value.kind !== 'nothing') {
      frontmatter = { ...frontmatter, ...key.read(field, report, platform) };
    }
  }
  return frontmatter;
}

/** What the same things are called elsewhere. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['tools', 'allowed_tools'],
  ['transitions', 'allowed_transitions'],
  ['permissions', 'permission_mode'],
  ['permissionmode', 'permission_mode'],
  ['system_prompt', 'append_system_prompt'],
]);
