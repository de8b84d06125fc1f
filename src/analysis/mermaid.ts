import type { Edge, Graph, Node, Target } from './graph.ts';
import { prove } from './proof.ts';

/**
 * The graph as text that Mermaid draws: prompts are boxes, scripts are hexagons, forks are thick, the ways back from
 * calls are dotted. The same graph always gives the same text.
 */
export function toMermaid(graph: Graph): string {
  const ids = new Map(graph.nodes.map(({ state }, index) => [state, `s${index}`]));
  const idOf = (target: Target): string => {
    if (target.kind === 'any') return ANY;
    return ids.get(target.kind === 'state' ? target.file : target.name) ?? NOWHERE;
  };
  const lines = arrowsOf(graph, (state) => ids.get(state) ?? NOWHERE, idOf);
  const used = (id: string): boolean => lines.some(({ to }) => to === id);
  return [
    'flowchart TD',
    ...graph.nodes.map((node) => `  ${ids.get(node.state)}${shapeOf(node)}`),
    ...(graph.entry === null ? [] : [`  ${BEGIN}((" "))`]),
    ...(used(END) ? [`  ${END}((("end")))`] : []),
    ...(used(BACK) ? [`  ${BACK}(["back to the caller"])`] : []),
    ...(used(ANY) ? [`  ${ANY}{{"any state"}}:::open`] : []),
    ...(used(NOWHERE) ? [`  ${NOWHERE}["not said"]:::missing`] : []),
    ...(graph.entry === null ? [] : [`  ${BEGIN} --> ${ids.get(graph.entry) ?? NOWHERE}`]),
    ...lines.map(({ from, to, line, labels }) => `  ${from} ${line}|"${[...labels].join('<br/>')}"| ${to}`),
    '  classDef missing stroke:#c00,color:#c00,stroke-dasharray:5 3',
    '  classDef open stroke-dasharray:5 3',
    '',
  ].join('\n');
}

const [BEGIN, END, BACK, ANY, NOWHERE] = ['begin', 'finish', 'back', 'any', 'nowhere'];

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly line: '-->' | '==>' | '-.->';
  readonly labels: Set<string>;
}

/** Arrows of the same kind between the same states are drawn once, with all their labels. */
function arrowsOf(graph: Graph, from: (state: string) => string, to: (target: Target) => string): readonly Arrow[] {
  const { flow, reach } = prove(graph);
  const arrows = new Map<string, Arrow>();
  const add = (edge: Edge, end: string, line: Arrow['line'], label: string): void => {
    const key = `${from(edge.from)} ${line} ${end}`;
    const arrow = arrows.get(key) ?? { from: from(edge.from), to: end, line, labels: new Set<string>() };
    arrow.labels.add(escaped(label));
    arrows.set(key, arrow);
  };
  for (const edge of graph.edges.filter(({ origin }) => origin !== 'guess')) {
    const state = flow.numberOf(edge.from);
    const said = edge.origin === 'implicit' ? `${edge.tag} (implicit)` : edge.tag;
    if (edge.to === null) {
      if (reach.has(state, 'called')) add(edge, BACK, '-.->', said);
      if (reach.has(state, 'bottom') || !reach.has(state)) add(edge, END, '-->', said);
    } else {
      add(edge, to(edge.to), edge.tag === 'fork' ? '==>' : '-->', edge.clears ? `${said} (clears the stack)` : said);
    }
    if (edge.return !== null) add(edge, to(edge.return), '-.->', `return from ${nameOf(edge.to)}`);
    if (edge.next !== null) add(edge, to(edge.next), '-->', 'next');
  }
  return [...arrows.values()];
}

function nameOf(target: Target | null): string {
  if (target?.kind === 'state') return target.file;
  return target?.kind === 'missing' ? target.name : 'any state';
}

function shapeOf({ state, kind, maxVisits, open }: Node): string {
  const visits = maxVisits === null ? '' : `<br/>max_visits ${maxVisits}`;
  const label = `"${escaped(state)}${visits}"`;
  if (kind === 'missing') return `["${escaped(state)}<br/>missing"]:::missing`;
  return (kind === 'script' ? `{{${label}}}` : `[${label}]`) + (open ? ':::open' : '');
}

/** Mermaid reads entities, HTML and markdown in labels, and none of them may come from a name. */
const escaped = (text: string): string =>
  text.replace(/[^\p{L}\p{N} ._()-]|[.-](?![\p{L}\p{N}])/gu, (char) => `#${char.codePointAt(0)};`);
