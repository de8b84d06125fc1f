import type { Doing } from '../../core/activity.ts';
import { isFolderName } from '../../scenario/answer-schema.ts';
import type { Answer } from '../../scenario/scenario.ts';

/** One thing that is seen of a canned turn, and the file that is written with it. */
export interface Act {
  readonly doing: Exclude<Doing, { kind: 'prints' }>;
  readonly file: readonly [name: string, content: string] | null;
  readonly denied: boolean;
}

const WRITERS = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** What a canned turn does, in order: its tools with the files they write, the other files, its words. */
export function actsOf({ uses, deny, write, text }: Answer): readonly Act[] {
  const left = new Map(Object.entries(write));
  const used = uses.map((use): Act => {
    const doing = toolUse(use);
    const content = WRITERS.includes(doing.tool) ? left.get(doing.detail) : undefined;
    if (content !== undefined) left.delete(doing.detail);
    return { doing, file: content === undefined ? null : [doing.detail, content], denied: false };
  });
  const written = [...left].map(([name, content]): Act => {
    const [tool, detail] = isFolderName(name) ? ['Bash', `mkdir -p ${name}`] : ['Write', name];
    return { doing: { kind: 'uses', tool, detail }, file: [name, content], denied: false };
  });
  const denied = deny.map((use): Act => ({ doing: toolUse(use), file: null, denied: true }));
  const said: readonly Act[] = text === '' ? [] : [{ doing: { kind: 'says', text }, file: null, denied: false }];
  return [...used, ...written, ...denied, ...said];
}

/** `Bash npm test` as a tool and what it is used on. */
export function toolUse(written: string): Extract<Doing, { kind: 'uses' }> {
  const [, tool = '', detail = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(written) ?? [];
  return { kind: 'uses', tool, detail };
}
