import type { ClaudeTurn, ScriptTurn } from '../core/due.ts';
import type { Event, Transitioned } from '../core/event.ts';
import { implicitTag, type Policy, permits } from '../core/policy.ts';
import type { Answered } from '../core/signal.ts';
import { resolveState, type Scope } from '../core/state-names.ts';
import { readTags, type Tag } from '../core/tag.ts';
import { isTagName, TAG_NAMES, type TagName } from '../core/transitions/index.ts';
import type { Edge, EdgeTarget } from '../graph/graph.ts';

/** One tag that was followed, with the states that it names, and the entries of the policy that permit it. */
export interface TakenTag {
  readonly from: string;
  readonly tag: TagName;
  /** Null for a result. */
  readonly to: string | null;
  readonly return: string | null;
  readonly next: string | null;
  /** By their place in the policy. */
  readonly entries: readonly number[];
}

interface RecordedAnswer {
  readonly text: string;
  readonly policy: Policy;
  readonly scope: Scope;
}

/** Takes down which tags a run follows: its events tell where it went, but not by which words. */
export class TagTrace {
  private readonly answers = new Map<string, RecordedAnswer>();
  private readonly transitions: (readonly [Transitioned, RecordedAnswer])[] = [];

  recordAnswer({ agent, policy }: ClaudeTurn | ScriptTurn, { text, scope }: Answered): void {
    this.answers.set(agent, { text, policy, scope });
  }

  recordEvents(events: readonly Event[]): void {
    for (const event of events) {
      const answer = event.kind === 'transition' ? this.answers.get(event.agent) : undefined;
      if (event.kind === 'transition' && answer !== undefined) this.transitions.push([event, answer]);
    }
  }

  /** Found out when somebody asks: for most scenarios nobody does. */
  get takenTags(): readonly TakenTag[] {
    return this.transitions.flatMap(([transition, answer]) => resolveTakenTags(transition, answer));
  }
}

function resolveTakenTags({ state, implicit, to }: Transitioned, answer: RecordedAnswer): readonly TakenTag[] {
  const implied = implicit ? implicitTag(answer.policy) : undefined;
  return (implied === undefined ? parseAnswerTags(answer.text) : [implied]).flatMap((tag) => {
    const next = tag.name === 'fork' ? (tag.attributes.next ?? to) : null;
    const completeTag = next === null ? tag : { ...tag, attributes: { ...tag.attributes, next } };
    return toTakenTag(state, completeTag, answer) ?? [];
  });
}

function parseAnswerTags(text: string): readonly Tag[] {
  const parsed = readTags(text, TAG_NAMES);
  return parsed.kind === 'unclosed' ? [] : parsed.tags;
}

function toTakenTag(from: string, tag: Tag, { policy, scope }: RecordedAnswer): TakenTag | null {
  const { name, body, attributes } = tag;
  if (!isTagName(name)) return null;
  const resolveName = (rawName: string | undefined): string | null => {
    const found = resolveState((rawName ?? '').trim(), scope);
    return found.kind === 'found' ? found.file : null;
  };
  return {
    ...{ from, tag: name, to: name === 'result' ? null : resolveName(body) },
    ...{ return: resolveName(attributes.return), next: resolveName(attributes.next) },
    entries: policy.flatMap((entry, at) => (permits([entry], tag, scope) ? [at] : [])),
  };
}

/** Whether a deed may be what an edge stands for. */
export function matchesEdge(edge: Edge, takenTag: TakenTag): boolean {
  const matchesTarget = (target: EdgeTarget | null, state: string | null): boolean =>
    target?.kind !== 'state' || target.file === state;
  const targetsMatch =
    matchesTarget(edge.to, takenTag.to) &&
    matchesTarget(edge.return, takenTag.return) &&
    matchesTarget(edge.next, takenTag.next);
  return edge.from === takenTag.from && edge.tag === takenTag.tag && targetsMatch;
}

/** What a target is called; null if there is none. */
export function formatEdgeTarget(target: EdgeTarget | null, wildcard: string): string | null {
  if (target === null) return null;
  return target.kind === 'state' ? target.file : target.kind === 'missing' ? target.name : wildcard;
}
