import { blank } from '../../core/markup.ts';
import { nearest } from '../../core/nearest.ts';
import { findGiven, type Given } from '../given.ts';
import { UNKNOWN } from '../mentions.ts';
import type { Page } from '../page.ts';
import { fencesIn } from '../quoted.ts';
import type { Step } from '../reach.ts';
import type { Fault, Rule, View } from '../rule.ts';
import { unsetInScript } from '../script-variables.ts';
import { namesGiven, type Use, usesIn } from '../variables.ts';
import { sayPath, withoutAny } from '../words.ts';

/** Variables that every state has, or that another rule looks at. */
const OWN = ['workflow_id', 'agent_id', 'state', 'result', 'input'];

/** A `{{variable}}` that is not set on some way to its state, or a variable that a script asks for and never has. */
export const undefinedVariable: Rule = {
  id: 'undefined-variable',
  level: 'warning',
  check: (view) => [...unsetInPrompts(view), ...view.pages.flatMap(unsetInScript)],
};

function unsetInPrompts(view: View): readonly Fault[] {
  const { graph, proof, pages, pageOf, sheet } = view;
  if (graph.entry === null) return [];
  const uses = pages.flatMap((page) => {
    if (page.kind !== 'prompt' || page.broken || !view.isReached(page.file)) return [];
    const { text } = page.source.state;
    const all = usesIn(text);
    const isShown = all.length === 0 ? () => false : shownIn(text);
    return firstOfEach(all).map((use) => ({ page, use, shown: isShown(use.name) }));
  });
  const unsettled = uses.filter(({ use }) => !OWN.includes(use.name));
  if (unsettled.length === 0) return [];
  const given = findGiven(proof, pageOf, sheet.variables, new Set(unsettled.map(({ use }) => use.name)));
  const set = new Set(graph.edges.flatMap(({ variables }) => variables).filter((name) => !name.includes(UNKNOWN)));
  const forks = graph.edges.some(({ tag }) => tag === 'fork');
  return unsettled.flatMap(({ page, use, shown }): Fault[] => {
    if (given.has(proof.flow.numberOf(page.file), use.name)) return [];
    const known = set.has(use.name) || given.somewhere(use.name);
    const fault = known ? unsetHere(use, page, view, given) : unsetAnywhere(use, [...set, ...OWN], forks, shown);
    return [{ file: page.file, at: page.place(use.offset), ...fault }];
  });
}

/** More variables than these say nothing about which one was meant. */
const MOST_NAMED = 3;

type Words = Pick<Fault, 'message' | 'hint' | 'path' | 'level'>;

/** Says whether a prompt has a name only in blocks of code: there, it may well be part of what is shown. */
function shownIn(text: string): (name: string) => boolean {
  const elsewhere = new Set(usesIn(blank(text, fencesIn(text))).map(({ name }) => name));
  return (name) => !elsewhere.has(name);
}

function firstOfEach(uses: readonly Use[]): readonly Use[] {
  const seen = new Set<string>();
  return uses.filter(({ name }) => !seen.has(name) && seen.add(name));
}

function unsetAnywhere({ name }: Use, known: readonly string[], forks: boolean, shown: boolean): Words {
  const meant = nearest(name, known);
  if (shown && meant === undefined) {
    const message = `nothing sets {{${name}}}, which stands in a code block`;
    return {
      message,
      hint: `Write \\{{${name}}} if it is meant as it stands: then no run warns of it.`,
      level: 'info',
    };
  }
  const suggestion = meant === undefined ? '' : ` (did you mean {{${meant}}}?)`;
  const asItStands = `write \\{{${name}}} if it is meant as it stands.`;
  const set = known.filter((each) => !OWN.includes(each));
  const others =
    set.length === 0 || set.length > MOST_NAMED ? '' : `; they give ${set.map((each) => `{{${each}}}`).join(', ')}`;
  const hint = forks
    ? `Add ${name}="…" to the <fork> whose worker comes here, or give --var ${name}=… to run and lint; ${asItStands}`
    : `Only a <fork> or --var ${name}=… sets a variable, and lint wants to be told of the latter; ${asItStands}`;
  return {
    message: `nothing sets {{${name}}}: no <fork> of this workflow gives it${meant === undefined ? others : suggestion}`,
    hint,
  };
}

/** Somebody has the variable, but not whoever comes along this way. */
function unsetHere({ name }: Use, { file }: Page, view: View, given: Given): Words {
  const state = view.proof.flow.numberOf(file);
  const path = withoutAny(given.pathWithout(state, name));
  const message =
    path.length === 0
      ? `{{${name}}} is not set in ${file}, where the run begins`
      : `{{${name}}} is not set on this way to ${file}: ${sayPath(path, file)}`;
  const birth = path.findLastIndex(({ how }) => how === 'worker');
  const parted = path.slice(birth + 1).find((step) => isFork(step, name, view));
  if (parted !== undefined)
    return { message, hint: hintForParent(name, file, parted, given.bySome(state, name)), path };
  const worker = path[birth];
  if (worker !== undefined) return { message, hint: hintForWorker(name, worker), path };
  const hint = `Only the worker of a <fork> with ${name}="…" has it: let the others go to another state, or start the run with --var ${name}=….`;
  return { message, hint, path };
}

/** Whether a step leads the parent on from a fork that gives the variable to its worker. */
function isFork({ how, from, after }: Step, name: string, { graph, pageOf }: View): boolean {
  if (how !== 'next') return false;
  return graph.edges.some((edge) => {
    if (edge.from !== from || edge.tag !== 'fork' || edge.to?.kind !== 'state' || edge.to.file !== after) return false;
    const names = namesGiven(edge, pageOf.get(from), new Set([name]));
    return names === 'all' || names.has(name);
  });
}

function hintForParent(name: string, file: string, { from, after }: Step, shared: boolean): string {
  const why = `What a <fork> sets belongs to its worker (${after}), not to the parent, which goes on here`;
  return shared
    ? `${why}: let the parent go on in another state than ${file}.`
    : `${why}: take {{${name}}} out of ${file}, or let ${from} write it into a file that ${file} reads.`;
}

function hintForWorker(name: string, { from, to, at }: Step): string {
  const line = at === null || at.line === 0 ? '' : `, line ${at.line}`;
  return `Add ${name}="…" to the <fork> of ${to} in ${from}${line}: a worker has only what its own <fork> sets.`;
}
