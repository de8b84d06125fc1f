import type { ClaudeTurn, ScriptTurn } from '../core/due.ts';
import type { Event, Transitioned } from '../core/event.ts';
import { resolveState, type Scope } from '../core/names.ts';
import { implicitTag, type Policy, permits } from '../core/policy.ts';
import type { Answered } from '../core/signal.ts';
import { readTags, type Tag } from '../core/tag.ts';
import { isTagName, TAG_NAMES, type TagName } from '../core/transitions/index.ts';

/** One tag that was followed, with the states that it names, and the entries of the policy that permit it. */
export interface Deed {
  readonly from: string;
  readonly tag: TagName;
  /** Null for a result. */
  readonly to: string | null;
  readonly return: string | null;
  readonly next: string | null;
  /** By their place in the policy. */
  readonly entries: readonly number[];
}

interface Heard {
  readonly text: string;
  readonly policy: Policy;
  readonly scope: Scope;
}

/** Takes down which tags a run follows: its events tell where it went, but not by which words. */
export class Witness {
  private readonly heard = new Map<string, Heard>();
  private readonly moves: (readonly [Transitioned, Heard])[] = [];

  hear({ agent, policy }: ClaudeTurn | ScriptTurn, { text, scope }: Answered): void {
    this.heard.set(agent, { text, policy, scope });
  }

  see(events: readonly Event[]): void {
    for (const event of events) {
      const heard = event.kind === 'transition' ? this.heard.get(event.agent) : undefined;
      if (event.kind === 'transition' && heard !== undefined) this.moves.push([event, heard]);
    }
  }

  /** Found out when somebody asks: for most scenarios nobody does. */
  get deeds(): readonly Deed[] {
    return this.moves.flatMap(([moved, heard]) => deedsOf(moved, heard));
  }
}

function deedsOf({ state, implicit, to }: Transitioned, heard: Heard): readonly Deed[] {
  const only = implicit ? implicitTag(heard.policy) : undefined;
  return (only === undefined ? tagsIn(heard.text) : [only]).flatMap((tag) => {
    const next = tag.name === 'fork' ? (tag.attributes.next ?? to) : null;
    const whole = next === null ? tag : { ...tag, attributes: { ...tag.attributes, next } };
    return deedOf(state, whole, heard) ?? [];
  });
}

function tagsIn(text: string): readonly Tag[] {
  const reading = readTags(text, TAG_NAMES);
  return reading.kind === 'unclosed' ? [] : reading.tags;
}

function deedOf(from: string, tag: Tag, { policy, scope }: Heard): Deed | null {
  const { name, body, attributes } = tag;
  if (!isTagName(name)) return null;
  const meant = (written: string | undefined): string | null => {
    const found = resolveState((written ?? '').trim(), scope);
    return found.kind === 'found' ? found.file : null;
  };
  return {
    ...{ from, tag: name, to: name === 'result' ? null : meant(body) },
    ...{ return: meant(attributes.return), next: meant(attributes.next) },
    entries: policy.flatMap((entry, at) => (permits([entry], tag, scope) ? [at] : [])),
  };
}
