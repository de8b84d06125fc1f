import type { Edge } from '../analysis/graph.ts';
import type { LintFinding } from '../analysis/lint.ts';
import { canBeTaken } from '../analysis/transitions.ts';
import { isPrompt, resolveState, type Scope } from '../core/names.ts';
import { readTags } from '../core/tag.ts';
import { TAG_NAMES } from '../core/transitions/index.ts';
import { fingerprintOf } from '../raymond/record/fingerprint.ts';
import type { Part, Print } from '../scenario/scenario.ts';
import type { Difference, Review } from './difference.ts';
import { trouble } from './looks.ts';
import { type Reading, readingOf } from './reading.ts';
import type { Performance } from './rehearse.ts';
import type { Piece } from './repertoire.ts';
import { fits, nameOf } from './takings.ts';
import type { Deed } from './witness.ts';

/** Holds what was played against what the states say by now: nobody has read the prompts, and scripts were not run. */
export async function staleness(piece: Piece, { events, witness }: Performance): Promise<Review> {
  const { parts } = piece.rehearsal.scenario;
  const entered = new Set(events.flatMap((event) => (event.kind === 'turn_started' ? event.state : [])));
  const played = [...parts].filter(([state]) => entered.has(state));
  const [reading, scope] = await Promise.all([readingOf(piece.workflow), piece.workflow.scope()]);
  const scripts = played.filter(([state]) => !isPrompt(state));
  // Where somebody failed, or came no further, playing has hidden nothing.
  const left = new Set(events.flatMap((event) => (event.kind === 'transition' ? event.state : [])));
  const faults = played.filter(([state]) => left.has(state)).flatMap(([state]) => reading.faultsOf(state));
  const unprintable = scripts.flatMap(([script, part]) => {
    const edges = reading.edgesOf(script);
    const deeds = witness.deeds.filter(({ from }) => from === script);
    return edges === null ? [] : impossible(deeds, edges).map((deed) => complaint(deed, edges, part, scope));
  });
  return {
    differences: [...unprintable, ...faults.filter(isError).map((fault) => differenceOf(fault, piece))],
    warnings: [
      ...faults.filter((fault) => !isError(fault)).map((fault) => warningOf(fault, piece)),
      ...scripts.flatMap(([script]) => changeOf(script, reading, piece)),
    ],
  };
}

/** What was done and cannot be done, each once. */
function impossible(deeds: readonly Deed[], edges: readonly Edge[]): readonly Deed[] {
  const wrong = deeds.filter((deed) => !edges.some((edge) => canBeTaken(edge) && fits(edge, deed)));
  return [...new Map(wrong.map((deed) => [tagOf(deed), deed])).values()];
}

function complaint(deed: Deed, edges: readonly Edge[], part: Part, scope: Scope): Difference {
  const known = [...new Set(edges.map(tagOfEdge))];
  const instead = known.length === 0 ? 'its text has no tag' : `its text has only ${known.join(', ')}`;
  const { line, column } = part.prints.find((print) => says(print, deed, scope)) ?? part;
  const message = `${deed.from} cannot print ${tagOf(deed)}, which this answer lets it print: ${instead}`;
  return { file: part.file, line, column, what: deed.from, detail: trouble(message) };
}

/** Whether a text holds the tag of a deed; what is filled in later may be anything. */
function says({ text }: Print, { tag, to }: Deed, scope: Scope): boolean {
  const reading = readTags(text, TAG_NAMES);
  if (reading.kind === 'unclosed') return false;
  return reading.tags.some(({ name, body }) => {
    const meant = resolveState(body.trim(), scope);
    return name === tag && (to === null || body.includes('{{') || (meant.kind === 'found' && meant.file === to));
  });
}

const isError = ({ level }: LintFinding): boolean => level === 'error';

const differenceOf = ({ file, line, column, message }: LintFinding, { shown }: Piece): Difference => {
  return { file: shown(file), line, column, what: file, detail: trouble(message) };
};

const warningOf = ({ file, line, column, message }: LintFinding, { shown }: Piece): string =>
  `${shown(file)}${line === 0 ? '' : `:${line}:${column}`}: ${message}`;

function changeOf(script: string, { textOf }: Reading, { rehearsal, shown }: Piece): readonly string[] {
  const recorded = rehearsal.scenario.recorded.get(script);
  if (recorded === undefined || recorded === fingerprintOf(textOf(script))) return [];
  return [
    `${shown(script)} has changed since this was recorded, and what it printed then was played: run it with --real-scripts, or record again`,
  ];
}

const tagOf = ({ tag, to, return: back, next }: Deed): string => written(tag, to, back, next);

const tagOfEdge = ({ tag, to, return: back, next }: Edge): string =>
  written(tag, nameOf(to, '…'), nameOf(back, '…'), nameOf(next, '…'));

function written(tag: string, to: string | null, back: string | null, next: string | null): string {
  const more = `${back === null ? '' : ` return="${back}"`}${next === null ? '' : ` next="${next}"`}`;
  return `\`<${tag}${more}>${to ?? '…'}</${tag}>\``;
}
