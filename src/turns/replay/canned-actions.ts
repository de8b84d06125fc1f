import type { Doing } from '../../core/run/activity.ts';
import { isFolderName } from '../../scenario/answer-schema.ts';
import type { CannedAnswer } from '../../scenario/scenario.ts';

/** One visible action of a canned turn, and the file that is written with it. */
export interface CannedAction {
  readonly doing: Exclude<Doing, { kind: 'prints' | 'retries' }>;
  readonly file: readonly [name: string, content: string] | null;
  readonly denied: boolean;
}

const WRITE_TOOLS = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** Lists the actions of a canned turn in order: its tools with the files they write, the other files, its text. */
export function listCannedActions({ uses, deny, write, text }: CannedAnswer): readonly CannedAction[] {
  const unwritten = new Map(Object.entries(write));
  const toolActions = uses.map((use): CannedAction => {
    const doing = parseToolUse(use);
    const content = WRITE_TOOLS.includes(doing.tool) ? unwritten.get(doing.detail) : undefined;
    if (content !== undefined) unwritten.delete(doing.detail);
    return { doing, file: content === undefined ? null : [doing.detail, content], denied: false };
  });
  const fileActions = [...unwritten].map(([name, content]): CannedAction => {
    const [tool, detail] = isFolderName(name) ? ['Bash', `mkdir -p ${name}`] : ['Write', name];
    return { doing: { kind: 'uses', tool, detail }, file: [name, content], denied: false };
  });
  const deniedActions = deny.map((use): CannedAction => ({ doing: parseToolUse(use), file: null, denied: true }));
  const textActions: readonly CannedAction[] =
    text === '' ? [] : [{ doing: { kind: 'says', text }, file: null, denied: false }];
  return [...toolActions, ...fileActions, ...deniedActions, ...textActions];
}

/** Parses `Bash npm test` into a tool and its input. */
export function parseToolUse(text: string): Extract<Doing, { kind: 'uses' }> {
  const [, tool = '', detail = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(text) ?? [];
  return { kind: 'uses', tool, detail };
}
