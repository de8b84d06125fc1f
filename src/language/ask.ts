import { type Choices, choicesValueProblem } from './choices.ts';
import type { PermissionRequest } from './permission.ts';
import { parseDurationMs } from './text/duration.ts';

/** A file that is shown with a question, from the task folder on. */
export interface DisplayFile {
  readonly path: string;
  readonly label: string | null;
}

/** The files that a question asks for. Limits are in bytes; null for none. */
export interface UploadRules {
  /** The files that must come, each with the types that it may have, as in `image/png|image/jpeg`; null for any. */
  readonly slots: readonly { readonly name: string; readonly mime: string | null }[];
  /** True if other files than those of the slots are welcome. */
  readonly bucket: boolean;
  readonly maxCount: number | null;
  readonly maxSize: number | null;
  readonly maxTotalSize: number | null;
  readonly mime: readonly string[];
}

/** A question to a person. */
export interface Question {
  readonly text: string;
  /** The state that gets the answer. */
  readonly next: string;
  readonly timeoutMs: number | null;
  /** The state to continue in if there is no answer in time. */
  readonly timeoutNext: string | null;
  readonly displayFiles: readonly DisplayFile[];
  /** Null if the question is not about files. */
  readonly uploads: UploadRules | null;
  /** Null if any text is an answer. */
  readonly choices: Choices | null;
  /** The call of a tool that it is about; null for a question of the workflow. */
  readonly permission: PermissionRequest | null;
}

/** An answer and its author. */
export interface AskAnswer {
  readonly ask: string;
  readonly text: string;
  readonly by: string;
  readonly answeredAt: number;
  /** The names of the files that came with it, in the folder of the question. */
  readonly files: readonly string[];
}

/** How a run handles a question: it waits for the answer, ends until there is one, or fails the agent. */
export const ASK_MODES = ['wait', 'exit', 'fail'] as const;
/** One of these modes. */
export type AskMode = (typeof ASK_MODES)[number];

/** How a run handles questions now: as the user chose, otherwise it waits only if somebody watches. */
export const askModeOf = (run: {
  readonly options: { readonly onAsk: AskMode | null };
  readonly attended: boolean;
}): AskMode => run.options.onAsk ?? (run.attended ? 'wait' : 'exit');

/** The id of the question that an agent asks after its latest turn; each turn asks at most one. */
export const askIdOf = ({ id, turns }: { readonly id: string; readonly turns: number }): string => `${id}-${turns}`;

/** The folder of a question's files, within the task folder. */
export const ASKS_FOLDER = 'asks';

type Attributes = Readonly<Record<string, string | undefined>>;

/** Reads `display_files="plan.md:The plan,b.png"`. */
export function readDisplayFiles(written: string | undefined): readonly DisplayFile[] {
  return splitList(written).map(([path, label]) => ({ path, label }));
}

/** Explains why a file cannot be shown; undefined if its path stays within the task folder. */
export function displayFileProblem({ path }: DisplayFile): string | undefined {
  const leaves = /^(?:[/\\]|[A-Za-z]:)/.test(path) || path.split(/[/\\]/).includes('..');
  return leaves ? `\`display_files\`: \`${path.slice(0, 60)}\` is not within the task folder` : undefined;
}

/** Reads what a tag says about files from the person; null if it says nothing. */
export function readUploadRules(attributes: Attributes): UploadRules | null {
  const { upload_slots: slots, upload_bucket: bucket, upload_mime: mime } = attributes;
  if (!Object.keys(attributes).some((name) => name.startsWith('upload_'))) return null;
  return {
    slots: splitList(slots).map(([name, type]) => ({ name, mime: type })),
    bucket: isTrue(bucket),
    maxCount: parseCount(attributes.upload_max_count) ?? null,
    maxSize: parseSize(attributes.upload_max_size) ?? null,
    maxTotalSize: parseSize(attributes.upload_max_total_size) ?? null,
    mime: splitList(mime).map(([type]) => type),
  };
}

/** Explains what is wrong with the attributes about files from the person; undefined if nothing is. */
export function uploadProblem(attributes: Attributes): string | undefined {
  for (const [name, value = ''] of Object.entries(attributes)) {
    const problem = uploadValueProblem(name, value);
    if (problem !== undefined) return problem;
  }
  const isBucket = isTrue(attributes.upload_bucket);
  const bucketKey = ['upload_mime', 'upload_max_count'].find((name) => attributes[name] !== undefined);
  if (bucketKey !== undefined && !isBucket) return `\`${bucketKey}\` needs \`upload_bucket="true"\``;
  const sizeKey = ['upload_max_size', 'upload_max_total_size'].find((name) => attributes[name] !== undefined);
  const slots = splitList(attributes.upload_slots);
  if (sizeKey !== undefined && !isBucket && slots.length === 0)
    return `\`${sizeKey}\` needs \`upload_slots\` or \`upload_bucket="true"\``;
  const maxCount = parseCount(attributes.upload_max_count);
  return maxCount !== undefined && maxCount < slots.length
    ? `\`upload_max_count\` is ${maxCount}, and \`upload_slots\` has ${slots.length} files`
    : undefined;
}

/** Explains why no question can have these attributes, whatever others it has; undefined if one can. */
export const openUploadProblem = (attributes: Attributes): string | undefined =>
  uploadProblem({ ...attributes, upload_bucket: attributes.upload_bucket ?? 'true' });

/** Explains why an attribute of a question cannot have this value; undefined if it can. */
export const askValueProblem = (name: string, value: string): string | undefined =>
  name === 'display_files'
    ? readDisplayFiles(value)
        .map(displayFileProblem)
        .find((problem) => problem !== undefined)
    : (choicesValueProblem(name, value) ?? uploadValueProblem(name, value));

/** Explains why an attribute about files from the person cannot have this value; undefined if it can. */
function uploadValueProblem(name: string, value: string): string | undefined {
  const written = `not "${value.slice(0, 60)}"`;
  switch (name) {
    case 'upload_bucket':
      return /^\s*(?:true|false)\s*$/i.test(value)
        ? undefined
        : `\`upload_bucket\` can be "true" or "false", ${written}`;
    case 'upload_slots':
      return slotsProblem(splitList(value));
    case 'upload_mime':
      return splitList(value).length > 0 ? undefined : '`upload_mime` names no type: name one, or leave it out';
    case 'upload_max_count':
      return parseCount(value) === undefined
        ? `\`${name}\` must be a number of files such as 3, ${written}`
        : undefined;
    case 'upload_max_size':
    case 'upload_max_total_size':
      return parseSize(value) === undefined ? `\`${name}\` must be a number such as 3 or 10MB, ${written}` : undefined;
    default:
      return undefined;
  }
}

function slotsProblem(slots: ReturnType<typeof splitList>): string | undefined {
  if (slots.length === 0) return '`upload_slots` names no file: name one, or leave it out';
  const seen = new Set<string>();
  for (const [name, types] of slots) {
    if (!isPlainFileName(name)) return `\`upload_slots\`: \`${name.slice(0, 60)}\` cannot be the name of a file`;
    if (seen.has(name)) return `\`upload_slots\` names ${name} twice`;
    if (types !== null && splitTypes(types).includes(''))
      return `\`upload_slots\`: \`${name}\` has an empty type beside a \`|\``;
    seen.add(name);
  }
  return undefined;
}

const splitTypes = (types: string): readonly string[] => types.split('|').map((type) => type.trim());

const isTrue = (written: string | undefined): boolean => written?.trim().toLowerCase() === 'true';

/** A file that a person hands over. */
export interface HandedFile {
  readonly name: string;
  readonly size: number;
  readonly mime: string;
}

/** The problem with files: too many, too large, or the wrong ones. */
export interface HandedFilesProblem {
  readonly kind: 'too_large' | 'wrong';
  readonly message: string;
}

/** Explains why a question does not take these files; undefined if it does. A question that says nothing about files takes any. */
export function findHandedFilesProblem(
  rules: UploadRules | null,
  files: readonly HandedFile[],
): HandedFilesProblem | undefined {
  const wrong = (message: string): HandedFilesProblem => ({ kind: 'wrong', message });
  const tooLarge = (message: string): HandedFilesProblem => ({ kind: 'too_large', message });
  const names = new Set<string>();
  for (const { name } of files) {
    if (!isPlainFileName(name)) return wrong(`\`${name.slice(0, 60)}\` cannot be the name of a file`);
    if (names.has(name)) return wrong(`two files have the name ${name}`);
    names.add(name);
  }
  if (rules === null) return undefined;
  const { slots, bucket, maxCount, maxSize, maxTotalSize, mime } = rules;
  if (maxCount !== null && files.length > maxCount) return tooLarge(`the question takes ${maxCount} files at most`);
  let total = 0;
  for (const file of files) {
    const slot = slots.find(({ name }) => name === file.name);
    if (slot === undefined && !bucket && slots.length === 0) return wrong('the question takes no files');
    if (slot === undefined && !bucket)
      return wrong(`the question does not ask for ${file.name}, but for ${slots.map(({ name }) => name).join(', ')}`);
    const allowed = slot === undefined ? mime : slot.mime === null ? [] : splitTypes(slot.mime);
    // The name of a slot is the author's: a person cannot give it an ending that tells the type.
    const isUntold = slot !== undefined && ['', 'application/octet-stream'].includes(file.mime);
    if (allowed.length > 0 && !isUntold && !allowed.some((pattern) => fitsMime(file.mime, pattern)))
      return wrong(`${file.name} is ${file.mime || 'of an unknown type'}, and should be ${allowed.join(' or ')}`);
    if (maxSize !== null && file.size > maxSize) return tooLarge(`${file.name} has more than ${maxSize} bytes`);
    total += file.size;
  }
  if (maxTotalSize !== null && total > maxTotalSize)
    return tooLarge(`the files have more than ${maxTotalSize} bytes together`);
  const missing = slots.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  return missing.length === 0
    ? undefined
    : wrong(`the question asks for files that are missing: ${missing.join(', ')}`);
}

/** True if a type is the wanted one; `image/*` stands for all images. */
const fitsMime = (mime: string, pattern: string): boolean =>
  pattern.endsWith('/*')
    ? mime.toLowerCase().startsWith(pattern.slice(0, -1).toLowerCase())
    : mime.toLowerCase() === pattern.toLowerCase();

/** Explains what is wrong with a `timeout` and its `timeout_next`; undefined if nothing is. */
export function timeoutProblem(attributes: Attributes): string | undefined {
  const { timeout, timeout_next: next } = attributes;
  if (timeout === undefined && next === undefined) return undefined;
  if (timeout === undefined) return '`timeout_next` without a `timeout`, such as timeout="24h"';
  if (next === undefined || next.trim() === '') return '`timeout` without a `timeout_next="STATE"`';
  const ms = parseDurationMs(timeout.trim());
  return ms === undefined || ms === 0
    ? `\`timeout\` must be a duration such as 90s, 10m or 24h, not "${timeout.slice(0, 60)}"`
    : undefined;
}

/** True if a text can be the name of a file that a person hands over: no path, nothing hidden, no control characters. */
export const isPlainFileName = (name: string): boolean =>
  name.length <= 200 && !name.startsWith('.') && !/[/\\:]|\p{Cc}/u.test(name) && name.trim() === name && name !== '';

const SIZE_UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 };

/** Reads a number of bytes of at least 1. */
function parseSize(written: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^\s*(\d{1,15})\s*([kmg]?)b?\s*$/i.exec(written ?? '') ?? [];
  const size = Number(digits ?? 0) * (SIZE_UNITS[unit.toLowerCase()] ?? 1);
  return size > 0 && Number.isSafeInteger(size) ? size : undefined;
}

/** Reads a number of files of at least 1. */
function parseCount(written: string | undefined): number | undefined {
  const count = Number(/^\s*(\d{1,9})\s*$/.exec(written ?? '')?.[1] ?? 0);
  return count > 0 ? count : undefined;
}

/** Reads `a:b,c` as pairs; the second is null if it is left out. */
function splitList(written = ''): readonly (readonly [string, string | null])[] {
  return written
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const colon = item.indexOf(':');
      if (colon === -1) return [item, null] as const;
      return [item.slice(0, colon).trim(), item.slice(colon + 1).trim() || null] as const;
    });
}
