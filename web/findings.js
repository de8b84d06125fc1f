import { make } from './make.js';

/** What is worst among findings, and how many there are of it; null if nothing is wrong. */
function worstOf(findings) {
  for (const level of ['error', 'warning']) {
    const count = findings.filter((finding) => finding.level === level).length;
    if (count > 0) return { level, count, words: `${count} ${level}${count === 1 ? '' : 's'}` };
  }
  return null;
}

/** A sign in the list for what is wrong with a state. */
export function badgeOf(findings) {
  const worst = worstOf(findings);
  return worst === null ? null : make('span', { class: `badge ${worst.level}` }, worst.words);
}

const SVG = 'http://www.w3.org/2000/svg';

/** The same in the picture, at the corner of its box. */
export function mark(node, findings) {
  const worst = worstOf(findings);
  if (worst === null) return;
  const { x, y, width } = node.getBBox();
  const sign = document.createElementNS(SVG, 'g');
  sign.setAttribute('class', `badge ${worst.level}`);
  sign.setAttribute('transform', `translate(${x + width - 3} ${y + 3})`);
  const circle = document.createElementNS(SVG, 'circle');
  circle.setAttribute('r', 7.5);
  const text = document.createElementNS(SVG, 'text');
  text.setAttribute('y', 4);
  text.textContent = '!';
  sign.append(circle, text);
  node.append(sign);
  node.setAttribute('aria-label', `${node.getAttribute('aria-label')}, ${worst.words}`);
}

/** Each finding with what to do about it; its line leads to where it is, if `lineOf` knows. */
export function findingsOf({ findings, firstLine }, lineOf = () => undefined) {
  return findings.map(({ level, rule, line, message, hint }) => {
    const go = () => lineOf(line)?.scrollIntoView({ block: 'center' });
    const place = [
      ...(line >= firstLine ? [make('button', { type: 'button', class: 'link', onclick: go }, `line ${line}`)] : []),
      ...(line > 0 && line < firstLine ? [`line ${line} (frontmatter)`] : []),
      ...(line > 0 ? [': '] : []),
    ];
    return make(
      'li',
      { class: level },
      make('strong', {}, level),
      ' ',
      ...place,
      ...withCode(message),
      ' ',
      make('small', {}, rule),
      hint === '' ? null : make('p', { class: 'hint' }, ...withCode(hint)),
    );
  });
}

/** What stands between backticks is code. */
const withCode = (text) =>
  text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 0 ? part : make('code', {}, part)));

/** The text of a state, line by line; those that something is wrong with stand out. What is missing at the end is past the last. */
export function linesOf({ text, firstLine, findings }) {
  const lines = text.split(/(?<=\n)/);
  const levels = new Map();
  for (const worse of ['warning', 'error']) {
    for (const { line, level } of findings) {
      const index = line - firstLine;
      if (level === worse) levels.set(index === lines.length ? index - 1 : index, level);
    }
  }
  return lines.map((line, index) => make('span', { class: `line ${levels.get(index) ?? ''}` }, line));
}
