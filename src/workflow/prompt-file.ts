import { didYouMean } from '../core/nearest.ts';
import type { Finding } from '../core/state.ts';
import type { Platform } from '../core/state-names.ts';
import { type FindingReport, newFindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { describeYamlValue, readYamlFields, type YamlValue } from '../yaml/value.ts';
import { EMPTY_FRONTMATTER, FRONTMATTER_KEYS, type Frontmatter } from './frontmatter-keys.ts';

/** A prompt file as read: what its frontmatter says, the rest, and everything odd or wrong about it. */
export interface ParsedPrompt {
  readonly frontmatter: Frontmatter;
  readonly body: string;
  readonly findings: readonly Finding[];
}

/** A prompt together with the YAML that its frontmatter was read from, for whoever asks where it says what. */
export interface ParsedPromptWithYaml extends ParsedPrompt {
  readonly yaml: YamlValue | undefined;
}

/** Reads a prompt's text. Any text gives a prompt; if the findings hold an error, it must not be used. */
export function parsePrompt(file: string, text: string, platform: Platform): ParsedPrompt {
  const { yaml: _, ...prompt } = parsePromptWithYaml(file, text, platform);
  return prompt;
}

/** The same, with nothing thrown away. */
export function parsePromptWithYaml(file: string, text: string, platform: Platform): ParsedPromptWithYaml {
  const report = newFindingReport(file);
  const parts = splitPrompt(text);
  if (parts.kind === 'unclosed') {
    report.error({ line: 1, column: 1 }, parts.message);
    return { frontmatter: EMPTY_FRONTMATTER, body: '', findings: report.findings, yaml: undefined };
  }
  const yaml = parts.kind === 'fenced' ? readYaml(parts.yaml, report, 2) : undefined;
  const frontmatter = yaml === undefined ? EMPTY_FRONTMATTER : decodeFrontmatter(yaml, report, platform);
  return { frontmatter, body: parts.body, findings: report.findings, yaml };
}

function decodeFrontmatter(value: YamlValue, report: FindingReport, platform: Platform): Frontmatter {
  if (value.kind === 'nothing') return EMPTY_FRONTMATTER;
  if (value.kind !== 'mapping') {
    report.error(
      value.at,
      `frontmatter is made of keys and values, such as \`model: sonnet\`, not ${describeYamlValue(value)}`,
    );
    return EMPTY_FRONTMATTER;
  }
  let frontmatter = EMPTY_FRONTMATTER;
  for (const field of readYamlFields(value, report).values()) {
    const key = Object.hasOwn(FRONTMATTER_KEYS, field.name) ? FRONTMATTER_KEYS[field.name] : undefined;
    if (key === undefined) {
      const synonym = KEY_SYNONYMS.get(field.name.toLowerCase());
      const suggestion =
        synonym === undefined ? didYouMean(field.name, Object.keys(FRONTMATTER_KEYS)) : ` (did you mean ${synonym}?)`;
      report.warning(field.at, `the key ${quoteInMessage(field.name)} is unknown and has no effect${suggestion}`);
    } else if (field.value.kind !== 'nothing') {
      frontmatter = { ...frontmatter, ...key.read(field, report, platform) };
    }
  }
  return frontmatter;
}

/** What the same things are called elsewhere. */
const KEY_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['tools', 'allowed_tools'],
  ['transitions', 'allowed_transitions'],
  ['permissions', 'permission_mode'],
  ['permissionmode', 'permission_mode'],
  ['system_prompt', 'append_system_prompt'],
]);

/** A prompt file cut in two. The YAML, if there is any, begins on line 2 of the file. */
export type PromptFileParts =
  | { readonly kind: 'plain'; readonly body: string }
  | { readonly kind: 'fenced'; readonly yaml: string; readonly body: string }
  | { readonly kind: 'unclosed'; readonly message: string };

const FENCE = /^---[ \t]*\r?$/;

const UNCLOSED_MESSAGE =
  'the frontmatter that this `---` opens is never closed: put a line `---` after its last key; ' +
  'if it was meant as a rule across the page, put an empty line before it';

/** Separates the frontmatter of a prompt from its body. The body is left as it is, line ends included. */
export function splitPrompt(text: string): PromptFileParts {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const openingEnd = findLineEnd(content, 0);
  if (!FENCE.test(content.slice(0, openingEnd))) return { kind: 'plain', body: content };
  for (let start = openingEnd + 1; start <= content.length; ) {
    const end = findLineEnd(content, start);
    if (FENCE.test(content.slice(start, end))) {
      return { kind: 'fenced', yaml: content.slice(openingEnd + 1, start), body: content.slice(end + 1) };
    }
    start = end + 1;
  }
  return { kind: 'unclosed', message: UNCLOSED_MESSAGE };
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
