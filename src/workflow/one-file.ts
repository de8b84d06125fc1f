import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import {
  type EntryPositions,
  positionInBody,
  type StateOrigin,
  type WorkflowSourceFile,
} from '../graph/workflow-source.ts';
import type { FileFinding } from '../language/state.ts';
import { isPrompt, type Platform } from '../language/state-names.ts';
import { comparePositions, type TextPosition } from '../language/text/text.ts';
import { newFindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { formatYamlData } from '../yaml/value.ts';
import { EMPTY_FRONTMATTER, type Frontmatter } from './frontmatter-keys.ts';
import { invalidWorkflowFile, unreadableWorkflowFile } from './invalid-workflow.ts';
import { EMPTY_MANIFEST, type ParsedManifest, readManifest } from './manifest.ts';
import { type OneFileState, readOneFileStates } from './one-file-states.ts';
import { readFrontmatter } from './prompt-file.ts';
import { parseScriptFile } from './script-file.ts';
import { buildState, positionsOf } from './state-file.ts';
import { cacheUntilChanged } from './versioned-file.ts';
import { decodeText, type WorkflowFiles } from './workflow-files.ts';

/** Opens a one-file workflow as the files of a workflow: each state is a file, as it would be in a folder. */
export function openOneFile(path: string): WorkflowFiles {
  const name = basename(path);
  const load = cacheUntilChanged(path, () => readOneFile(path, name));
  const find = async (file: string): Promise<[OneFileState, readonly string[]]> => {
    const { states, lines } = await load();
    const state = states.get(file);
    if (state === undefined) throw invalidWorkflowFile(name, `it no longer contains ${quoteInMessage(file)}`);
    return [state, lines];
  };
  return {
    name,
    pathOf: () => null,
    problemOf: () => undefined,
    list: async () => [...(await load()).states.keys()].sort(),
    read: async (file) => ({ bytes: Buffer.from((await find(file))[0].body), executable: false }),
    oneFile: {
      readManifest: load,
      async parseState(file: string, platform: Platform): Promise<WorkflowSourceFile> {
        const [state, lines] = await find(file);
        return parseOneFileState(name, state, lines, platform);
      },
    },
  };
}

interface OneFile extends ParsedManifest {
  readonly lines: readonly string[];
  readonly states: ReadonlyMap<string, OneFileState>;
}

async function readOneFile(path: string, name: string): Promise<OneFile> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadableWorkflowFile(name, error);
  });
  const report = newFindingReport(name);
  const decoded = decodeText(bytes, 'prompt');
  if (decoded.kind === 'not-text') {
    report.error(decoded.at, decoded.message);
    return { lines: [], states: new Map(), manifest: EMPTY_MANIFEST, findings: report.findings };
  }
  // Positions are those of the text with plain line ends, as the reader of YAML counts them.
  const text = decoded.text.replaceAll('\r\n', '\n');
  const value = readYaml(text, report);
  const { states, rest } = readOneFileStates(value, name, report);
  const manifest = value === undefined ? EMPTY_MANIFEST : readManifest(rest, report);
  const findings = report.findings.toSorted(comparePositions);
  const said = rest?.kind === 'mapping' && rest.pairs.length > 0 ? { text: formatYamlData(rest) } : {};
  return { lines: text.split('\n'), states, manifest, findings, ...said };
}

/** Reads a state of a one-file workflow. All positions are those in the workflow's file, of which these are the lines. */
export function parseOneFileState(
  name: string,
  { file, at, body, bodyAt, settings }: OneFileState,
  lines: readonly string[],
  platform: Platform,
): WorkflowSourceFile {
  const kind = isPrompt(file) ? 'prompt' : 'script';
  const report = newFindingReport(name);
  const { frontmatter, keys } = readFrontmatter(settings, report, platform, kind);
  const said = { settings: settings.pairs.length === 0 ? '' : formatYamlData(settings) };
  const origin: StateOrigin = { file: name, at, bodyAt, body: locateBody(body, lines, bodyAt) };
  if (kind === 'prompt') {
    const header = sliceBefore(lines, at, bodyAt);
    const state = buildState(file, kind, frontmatter, body);
    const positions = positionsOf(frontmatter);
    const { findings } = report;
    return { kind: 'state', file, text: header + body, state, findings, keys, origin, ...said, ...positions };
  }
  const own = parseScriptFile(name, body, platform);
  const move = <T extends TextPosition>(position: T): T => ({ ...position, ...positionInBody(origin, position) });
  const merged = mergeFrontmatter(moveEntries(own.frontmatter, move), frontmatter);
  return {
    kind: 'state',
    file,
    text: body,
    state: buildState(file, kind, merged, body),
    findings: [...report.findings, ...own.findings.map((finding): FileFinding => move(finding))],
    ...said,
    ...positionsOf(merged),
    keys: { ...Object.fromEntries(Object.entries(own.keys).map(([key, position]) => [key, move(position)])), ...keys },
    origin,
  };
}

/** The keys next to a script override the comments in it. */
function mergeFrontmatter(own: Frontmatter, beside: Frontmatter): Frontmatter {
  const names = Object.keys(EMPTY_FRONTMATTER) as (keyof Frontmatter)[];
  const said = names.filter((name) => beside[name] !== EMPTY_FRONTMATTER[name]);
  return { ...own, ...Object.fromEntries(said.map((name) => [name, beside[name]])) };
}

type Move = <T extends TextPosition>(position: T) => T;

function moveEntries(frontmatter: Frontmatter, move: Move): Frontmatter {
  const moveEntry = ({ at, keys }: EntryPositions): EntryPositions => ({
    at: move(at),
    keys: Object.fromEntries(Object.entries(keys).map(([key, position]) => [key, move(position)])),
  });
  const { entries, evaluatorPositions, writtenSchema } = frontmatter;
  const schemaPositions = Object.entries(writtenSchema?.positions ?? {}).map(([pointer, at]) => [pointer, move(at)]);
  return {
    ...frontmatter,
    ...(entries.length > 0 && { entries: entries.map(moveEntry) }),
    ...(evaluatorPositions.length > 0 && { evaluatorPositions: evaluatorPositions.map(moveEntry) }),
    ...(writtenSchema !== null && {
      writtenSchema: { ...writtenSchema, positions: Object.fromEntries(schemaPositions) },
    }),
  };
}

/** The part before the prompt of a state: its name and the keys above. */
function sliceBefore(lines: readonly string[], at: TextPosition, bodyAt: TextPosition): string {
  const before = [
    ...lines.slice(at.line - 1, bodyAt.line - 1),
    lines[bodyAt.line - 1]?.slice(0, bodyAt.column - 1) ?? '',
  ];
  return [before[0]?.slice(at.column - 1) ?? '', ...before.slice(1)].join('\n');
}

/** The position of a body's first character if all of its lines stand in the file as they are; otherwise null. */
function locateBody(body: string, lines: readonly string[], at: TextPosition): TextPosition | null {
  const sign = lines[at.line - 1]?.charAt(at.column - 1);
  if (sign === '|') {
    const content = body.split('\n');
    const first = Math.max(
      0,
      content.findIndex((line) => line !== ''),
    );
    const indent = (lines[at.line + first]?.length ?? 0) - (content[first]?.length ?? 0);
    return { line: at.line + 1, column: indent + 1 };
  }
  if (body.includes('\n')) return null;
  return sign === '"' || sign === "'" ? { ...at, column: at.column + 1 } : at;
}
