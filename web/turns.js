import { make } from './make.js';

/** Creates the list of what a run did in a state, turn by turn; null if it did nothing there. */
export function createTurns(turns) {
  if (turns === null) return null;
  const { shown, leftOut } = turns;
  return make(
    'section',
    { class: 'turns' },
    make('h3', {}, 'Turns', make('small', {}, String(shown.length + leftOut))),
    ...shown.map((turn, index) => createTurn(turn, index === 0)),
    leftOut === 0
      ? null
      : make('p', { class: 'hint' }, `${leftOut} earlier ones are not on this page: raymond logs has them.`),
  );
}

function createTurn({ title, figures, outcome, failed, denied, answer, note }, isOpen) {
  const parts = [
    ...denied.map((tool) => make('p', { class: 'denied' }, 'Denied: ', make('code', {}, tool))),
    answer === '' ? null : make('pre', { class: 'answer', tabindex: '0' }, answer),
    note === '' ? null : make('p', { class: 'hint' }, note),
  ];
  return make(
    'details',
    { open: isOpen },
    make(
      'summary',
      {},
      title,
      ' ',
      make('small', {}, figures),
      denied.length === 0 ? null : make('small', { class: 'denied' }, ` ${denied.length} denied`),
      outcome === '' ? null : make('span', { class: failed ? 'turn-outcome failed' : 'turn-outcome' }, outcome),
    ),
    ...parts,
  );
}
