import { createBadge, createFindingItems, createLines } from './findings.js';
import { make } from './make.js';
import { createTurns } from './turns.js';

const KINDS = {
  prompt: 'prompt',
  script: 'script',
  missing: 'does not exist',
  ambiguous: 'ambiguous',
  gone: 'exists no longer',
};

/** Creates the list items of all states, each with a button. */
export function createStateItems(cards, select) {
  return cards.map((card) =>
    make(
      'li',
      { 'data-key': card.key, class: card.untaken && 'untaken' },
      make(
        'button',
        { type: 'button', onclick: () => select(card.key) },
        make('span', { class: `dot ${card.kind}`, 'aria-hidden': 'true' }),
        make('span', { class: 'name' }, card.name),
        make('small', {}, card.kind === 'prompt' || card.kind === 'script' ? card.done : KINDS[card.kind]),
        createBadge(card.findings),
        card.here === 0 ? null : make('span', { class: 'here', title: 'agents here now' }, `▶ ${card.here}`),
        card.failed === 0
          ? null
          : make('span', { class: 'failed', title: 'agents that failed here' }, `✗ ${card.failed}`),
      ),
    ),
  );
}

/** Creates the details of a state. */
export function createDetails(card, { cards, routes }, select, close) {
  const nameOf = new Map(cards.map(({ key, name }) => [key, name]));
  const link = (key) => make('button', { type: 'button', class: 'link', onclick: () => select(key) }, nameOf.get(key));
  const out = routes.filter(({ from, kind }) => from === card.key && kind !== 'begin');
  const into = routes.filter(({ to, from }) => to === card.key && nameOf.has(from));
  const begins = routes.some(({ kind, to }) => kind === 'begin' && to === card.key);
  const pre = make('pre', { tabindex: '0' }, ...createLines(card));
  pre.style.counterReset = `line ${card.firstLine - 1}`;
  const count = pre.children.length;
  return [
    make('button', { type: 'button', class: 'link', onclick: close }, '← All states'),
    make('h2', {}, card.name),
    make(
      'p',
      { class: 'kind' },
      make('span', { class: `dot ${card.kind}` }),
      begins ? `${KINDS[card.kind]}, the first state` : KINDS[card.kind],
    ),
    card.description === '' ? null : make('p', {}, card.description),
    card.done === '' ? null : make('p', { class: 'done' }, card.done),
    facts(card.facts),
    createTurns(card.turns),
    section(
      'Findings',
      createFindingItems(card, (line) => pre.children[line - card.firstLine] ?? pre.lastElementChild),
    ),
    section(
      'Permits',
      card.policy.map((tag) => make('li', {}, make('code', {}, tag))),
    ),
    section(
      'Leads to',
      out.map(({ to, kind, label, mark }) => route(kind, label, nameOf.has(to) ? link(to) : mark)),
    ),
    section(
      'Reached from',
      into.map(({ from, kind, label }) => route(kind, label, link(from))),
    ),
    card.text === ''
      ? null
      : make(
          'h3',
          {},
          card.kind === 'script' ? 'Script' : 'Prompt',
          make('small', {}, `${count} ${count === 1 ? 'line' : 'lines'}`),
        ),
    card.text === '' ? null : pre,
  ].filter((element) => element !== null);
}

const route = (kind, label, end) => make('li', {}, make('span', { class: `tag ${kind}` }, label || kind), ' ', end);

function section(title, items) {
  return items.length === 0 ? null : make('section', {}, make('h3', {}, title), make('ul', {}, ...items));
}

function facts(pairs) {
  if (pairs.length === 0) return null;
  return make('dl', {}, ...pairs.flatMap(([label, value]) => [make('dt', {}, label), make('dd', {}, value)]));
}
