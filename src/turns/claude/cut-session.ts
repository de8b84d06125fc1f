import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { tryParseJson } from '../../language/text/json.ts';
import type { Environment } from '../../process/command.ts';
import type { SessionCopier, SessionCut } from '../session-copier.ts';
import { claudeConfigDir, findSessionFile, projectFolder } from './session-file.ts';

/*
 * The transcript of a conversation only grows, a line per message, and each message names the one before it. Lines of one prompt share its
 * `promptId`. So the conversation as it was after a message is a copy of the lines up to the next prompt. Claude Code resumes such a copy as
 * if nothing had followed; without the lines about costs, it begins to count anew.
 */

/** Creates the copier of Claude Code's conversations. */
export function createClaudeSessions(env: Environment): SessionCopier {
  const configDir = claudeConfigDir(env);
  const targetOf = async ({ to, copy }: SessionCut): Promise<string> =>
    join(await projectFolder(configDir, to), `${copy}.jsonl`);
  return {
    async filesOf(cut) {
      const target = await targetOf(cut);
      return [target, target.replace(/\.jsonl$/, '')];
    },
    async copy(cut) {
      const { session, message, from, links } = cut;
      const linked = join(links, `${session}.jsonl`);
      const source = existsSync(linked) ? linked : await findSessionFile(configDir, from, session);
      if (source === null) return 'its transcript is gone: Claude Code removes those that are older than 30 days';
      const lines = (await readFile(source, 'utf8')).split('\n').flatMap(parseLine);
      const kept = cutLines(lines, message);
      if (kept === null) return 'its transcript does not have the message that it stood at';
      const target = await targetOf(cut);
      const ownFolder = join(await projectFolder(configDir, from), session);
      const moved = [[ownFolder, target.replace(/\.jsonl$/, '')] as const, ...cut.moved];
      const replace = createReplacer([...moved, [session, cut.copy]]);
      const text = kept.map((line) => `${JSON.stringify(replace(line.data))}\n`).join('');
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await copyOutputs(ownFolder, target.replace(/\.jsonl$/, ''), kept.map((line) => line.text).join('\n'));
      await writeFile(`${target}.partial`, text, { mode: 0o600 });
      await rename(`${target}.partial`, target);
      return null;
    },
  };
}

const LINE = z.looseObject({
  type: z.string(),
  subtype: z.string().optional().catch(undefined),
  uuid: z.string().optional().catch(undefined),
  promptId: z.string().optional().catch(undefined),
  leafUuid: z.string().optional().catch(undefined),
  isSidechain: z.boolean().optional().catch(undefined),
});

interface TranscriptLine {
  readonly data: z.infer<typeof LINE>;
  readonly text: string;
}

function parseLine(text: string): readonly TranscriptLine[] {
  const data = LINE.safeParse(tryParseJson(text)).data;
  return data === undefined ? [] : [{ data, text }];
}

/** The lines of a conversation as it was after a message; null if it does not have the message. */
export function cutLines(lines: readonly TranscriptLine[], message: string | null): readonly TranscriptLine[] | null {
  const at = message === null ? -1 : lines.findLastIndex(({ data }) => data.uuid === message);
  if (at < 0) return null;
  const end = findNextPrompt(lines, at);
  // An entry that is not a message may belong to the next prompt.
  const kept = [...lines.slice(0, at + 1), ...lines.slice(at + 1, end).filter(({ data }) => data.uuid !== undefined)];
  const uuids = new Set(kept.flatMap(({ data }) => data.uuid ?? []));
  return kept.filter(({ data }) => {
    if (data.type === 'cost-state') return false;
    return data.leafUuid === undefined || uuids.has(data.leafUuid);
  });
}

/** The index of the first line after a message that belongs to another prompt, or to a summary. */
function findNextPrompt(lines: readonly TranscriptLine[], at: number): number {
  const isPrompt = ({ data }: TranscriptLine): boolean =>
    data.type === 'user' && data.promptId !== undefined && data.isSidechain !== true;
  const isSummary = ({ data }: TranscriptLine): boolean =>
    data.type === 'system' && data.subtype === 'compact_boundary';
  const message = lines[at];
  // The lines of a summary come after its boundary.
  const own =
    message !== undefined && isSummary(message)
      ? lines.slice(at).find(isPrompt)
      : lines.slice(0, at + 1).findLast(isPrompt);
  const next = lines.findIndex(
    (line, index) => index > at && (isSummary(line) || (isPrompt(line) && line.data.promptId !== own?.data.promptId)),
  );
  return next < 0 ? lines.length : next;
}

/** Creates a function that replaces paths in all texts of a value; blocks of thinking are signed, and stay as they are. */
function createReplacer(pairs: readonly (readonly [string, string])[]): (value: unknown) => unknown {
  const byLength = pairs.filter(([from, to]) => from !== to && from !== '').toSorted(([a], [b]) => b.length - a.length);
  if (byLength.length === 0) return (value) => value;
  const escaped = byLength.map(([from]) => from.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // A longer name with the same beginning is another file.
  const pattern = new RegExp(`(?:${escaped.join('|')})(?![\\w-]|\\.\\w)`, 'g');
  const targets = new Map(byLength);
  const replaceText = (text: string): string => text.replace(pattern, (found) => targets.get(found) ?? found);
  const replace = (value: unknown): unknown => {
    if (typeof value === 'string') return replaceText(value);
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== 'object' || value === null) return value;
    if ('type' in value && (value.type === 'thinking' || value.type === 'redacted_thinking')) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replace(each)]));
  };
  return replace;
}

/** Copies the long outputs of tools that the conversation mentions; those of its future stay where they are. */
async function copyOutputs(from: string, to: string, mentions: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile() || !mentions.includes(basename(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    const target = join(to, relative(from, path));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await copyFile(path, target);
  }
}
