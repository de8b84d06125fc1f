import { isNotDocFile, stem } from '../language/state-names.ts';
import type { TextPosition } from '../language/text/text.ts';
import { type FindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import {
  describeYamlValue,
  readYamlFields,
  readYamlScalarText,
  type YamlField,
  type YamlMapping,
  type YamlValue,
} from '../yaml/value.ts';
import { MANIFEST_FILE, MANIFEST_KEYS } from './manifest.ts';

/** One file of a one-file workflow: a prompt or a script of a state. */
export interface OneFileState {
  /** The file that it would be in a folder. */
  readonly file: string;
  /** The position of the state's name. */
  readonly at: TextPosition;
  readonly body: string;
  /** The position of the prompt or script. */
  readonly bodyAt: TextPosition;
  /** The keys beside it: its frontmatter. */
  readonly settings: YamlMapping;
}

/** The keys of a state that hold its text, and the extensions of the files that they stand for. */
export const BODY_KEYS: Readonly<Record<string, string>> = { prompt: '.md', sh: '.sh', ps1: '.ps1', bat: '.bat' };

/** The states of a one-file workflow by file, and what is left of its top level: the manifest. */
export interface OneFileStates {
  readonly states: ReadonlyMap<string, OneFileState>;
  readonly rest: YamlValue | undefined;
}

/** Reads the states of a one-file workflow, and reports what is wrong with them. */
export function readOneFileStates(value: YamlValue | undefined, name: string, report: FindingReport): OneFileStates {
  if (value === undefined) return { states: new Map(), rest: undefined };
  if (value.kind !== 'mapping') {
    const found = value.kind === 'nothing' ? 'it is empty' : `it is ${describeYamlValue(value)}`;
    report.error(
      value.at,
      `a workflow in one file is made of keys and values, with \`states:\` among them, but ${found}`,
    );
    return { states: new Map(), rest: undefined };
  }
  const isStates = ([key]: YamlMapping['pairs'][number]): boolean => readYamlScalarText(key) === 'states';
  const isMisplaced = ([key, each]: YamlMapping['pairs'][number]): boolean =>
    !Object.hasOwn(MANIFEST_KEYS, readYamlScalarText(key) ?? '') && looksLikeState(each);
  const misplaced = value.pairs.filter((pair) => !isStates(pair) && isMisplaced(pair));
  for (const [key] of misplaced) {
    const state = quoteInMessage(readYamlScalarText(key) ?? '');
    report.error(key.at, `${state} is a state at the top level: indent it, under \`states:\``);
  }
  const found = value.pairs.filter(isStates);
  const [first, second] = found;
  if (second !== undefined) report.error(second[0].at, 'there is a second `states:`: put all states under one');
  if (first === undefined && misplaced.length === 0) report.error(value.at, noStatesMessage(name));
  const rest = { ...value, pairs: value.pairs.filter((pair) => !isStates(pair) && !misplaced.includes(pair)) };
  return { states: first === undefined ? new Map() : readStates(first, report), rest };
}

const noStatesMessage = (name: string): string =>
  name === MANIFEST_FILE
    ? 'there are no `states:` in it: it is the manifest of its folder, so name the folder'
    : 'there are no `states:` in it: a workflow in one file has its states there';

const looksLikeState = (value: YamlValue): boolean =>
  value.kind === 'mapping' && value.pairs.some(([key]) => Object.hasOwn(BODY_KEYS, readYamlScalarText(key) ?? ''));

function readStates([key, value]: YamlMapping['pairs'][number], report: FindingReport): OneFileStates['states'] {
  const states = new Map<string, OneFileState>();
  if (value.kind !== 'mapping' || value.pairs.length === 0) {
    const found = value.kind === 'mapping' ? 'nothing' : describeYamlValue(value);
    report.error(
      value.kind === 'nothing' ? key.at : value.at,
      `\`states\` must have states by their names, not ${found}`,
    );
    return states;
  }
  for (const field of readYamlFields(value, report, stem).values()) {
    for (const state of readState(field, report)) states.set(state.file, state);
  }
  return states;
}

function readState({ name, at, value }: YamlField, report: FindingReport): readonly OneFileState[] {
  const quoted = quoteInMessage(name);
  if (name.trim() === '' || /[/\\\0]|^\./.test(name) || !isNotDocFile(`${name}.md`)) {
    report.error(at, `${quoted} cannot be the name of a state: use a plain word, as for a file`);
    return [];
  }
  if (value.kind !== 'mapping') {
    report.error(
      value.at,
      `the state ${quoted} must have a \`prompt\` or a script (\`sh\`), not ${describeYamlValue(value)}`,
    );
    return [];
  }
  const fields = [...readYamlFields(value, report).values()];
  const bodies = fields.filter((field) => Object.hasOwn(BODY_KEYS, field.name));
  const prompt = bodies.find((field) => field.name === 'prompt');
  const script = bodies.find((field) => field.name !== 'prompt');
  if (prompt !== undefined && script !== undefined) {
    report.error(script.at, `the state ${quoted} has a prompt and a script (\`${script.name}\`): keep one of them`);
    return [];
  }
  const filled = bodies.filter((field) => !isBlank(field.value));
  if (filled.length === 0) {
    report.error(at, `the state ${quoted} has neither a \`prompt\` nor a script (\`sh\`, \`ps1\`, \`bat\`)`);
    return [];
  }
  const isBody = ([key]: YamlMapping['pairs'][number]): boolean =>
    Object.hasOwn(BODY_KEYS, readYamlScalarText(key) ?? '');
  const settings = { ...value, pairs: value.pairs.filter((pair) => !isBody(pair)) };
  return filled.flatMap((field) => {
    const body = readYamlScalarText(field.value);
    if (body !== undefined) return { file: name + BODY_KEYS[field.name], at, body, bodyAt: field.value.at, settings };
    report.error(
      field.value.at,
      `\`${field.name}\` of the state ${quoted} must be a text, not ${describeYamlValue(field.value)}`,
    );
    return [];
  });
}

/** True for a key without a value: a state with such a text has none. An empty text is one. */
const isBlank = (value: YamlValue): boolean => value.kind === 'nothing';
