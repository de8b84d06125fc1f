import type { FileFinding, State } from '../language/state.ts';
import type { Platform } from '../language/state-names.ts';
import { didYouMean } from '../language/text/nearest.ts';
import type { TextPosition } from '../language/text/text.ts';
import { type FindingReport, newFindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { describeYamlValue, readYamlFields, valuePositions, type YamlValue } from '../yaml/value.ts';
import { EMPTY_FRONTMATTER, FRONTMATTER_KEYS, type Frontmatter } from './frontmatter-keys.ts';
import { guardPositions } from './guard-keys.ts';

/** The content of a state's file. If the findings hold an error, the frontmatter is not all that the file says. */
export interface ParsedStateText {
  readonly frontmatter: Frontmatter;
  /** The positions of the values of the frontmatter, by key. */
  readonly keys: Readonly<Record<string, TextPosition>>;
  readonly body: string;
  readonly findings: readonly FileFinding[];
}

/** Reads the text of a prompt file, whatever it contains. */
export function parsePrompt(file: string, text: string, platform: Platform): ParsedStateText {
  const report = newFindingReport(file);
  const parts = splitPrompt(text);
  if (parts.kind === 'unclosed') report.error({ line: 1, column: 1 }, parts.message);
  const yaml = parts.kind === 'fenced' ? readYaml(parts.yaml, report, 2) : undefined;
  const body = parts.kind === 'unclosed' ? '' : parts.body;
  return { ...readFrontmatter(yaml, report, platform, 'prompt'), body, findings: report.findings };
}

/** Reads the frontmatter of a state of either kind. */
export function readFrontmatter(
  value: YamlValue | undefined,
  report: FindingReport,
  platform: Platform,
  kind: State['kind'],
): Pick<ParsedStateText, 'frontmatter' | 'keys'> {
  if (value?.kind !== 'mapping') {
    if (value !== undefined && value.kind !== 'nothing')
      report.error(
        value.at,
        `frontmatter is made of keys and values, such as \`model: sonnet\`, not ${describeYamlValue(value)}`,
      );
    return { frontmatter: EMPTY_FRONTMATTER, keys: {} };
  }
  let frontmatter = EMPTY_FRONTMATTER;
  const fields = readYamlFields(value, report);
  for (const field of fields.values()) {
    const key = Object.hasOwn(FRONTMATTER_KEYS, field.name) ? FRONTMATTER_KEYS[field.name] : undefined;
    if (key === undefined) {
      const synonym = KEY_SYNONYMS.get(field.name.toLowerCase());
      const suggestion =
        synonym === undefined ? didYouMean(field.name, Object.keys(FRONTMATTER_KEYS)) : ` (did you mean ${synonym}?)`;
      report.warning(field.at, `the key ${quoteInMessage(field.name)} is unknown and has no effect${suggestion}`);
    } else if (key.onlyFor !== undefined && key.onlyFor !== kind) {
      report.warning(field.at, `\`${field.name}\` has no effect in a ${kind}`);
    } else if (field.value.kind !== 'nothing') {
      frontmatter = { ...frontmatter, ...key.read(field, report, platform) };
    }
  }
  return { frontmatter, keys: { ...valuePositions(fields), ...guardPositions(fields.get('on')) } };
}

/** Names that other tools use for the same keys. */
const KEY_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['tools', 'allowed_tools'],
  ['transitions', 'allowed_transitions'],
  ['permissions', 'permission_mode'],
  ['permissionmode', 'permission_mode'],
  ['system_prompt', 'append_system_prompt'],
  ['retries', 'retry'],
  ['on_error', 'on'],
]);

/** A prompt file, split into frontmatter and body. The YAML, if there is any, begins on line 2 of the file. */
export type PromptFileParts =
  | { readonly kind: 'plain'; readonly body: string }
  | { readonly kind: 'fenced'; readonly yaml: string; readonly body: string }
  | { readonly kind: 'unclosed'; readonly message: string };

const FENCE = /^---[ \t]*\r?$/;

const UNCLOSED_MESSAGE =
  'the frontmatter that this `---` opens is never closed: put a line `---` after its last key; ' +
  'if it is meant as a horizontal rule, put an empty line before it';

/** Separates the frontmatter of a prompt from its body. The body is kept as it is, line ends included. */
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
