import { formatCount } from '../../format.ts';
import { sanitizeLine } from '../../sanitize.ts';
import { shorten, wrapText } from '../../text-width.ts';
import type { LiveContext } from './agent-lines.ts';
import { renderAnswerLine } from './answer-line.ts';
import { formatDeadline, type QuestionView, wrapQuestion } from './question-view.ts';
import type { PanelView, TalkMode } from './talk-panel.ts';
import type { AgentView } from './view.ts';

/** The lines of the panel, at most so many. */
export function renderTalkPanel(panel: PanelView, room: number, context: LiveContext): readonly string[] {
  return panel.kind === 'choosing' ? renderChoice(panel, room, context) : renderTyping(panel, room, context);
}

const CHOICE_HELP = 'number, or ↑ ↓ and Enter: choose · Esc: close';
const CHOICES_HELP = 'number: choose · ';
const TYPING_HELP: Readonly<Record<TalkMode, string>> = {
  answer: 'Enter: send · Ctrl-G: editor · Ctrl-J: new line · ↑ ↓: scroll · Esc: later',
  say: 'Enter: say it · Ctrl-G: editor · Ctrl-J: new line · Esc: later',
  interrupt:
    'Enter: interrupt, and continue with this; without a text it asks · Ctrl-G: editor · Esc: leave it at work',
};

/** A line for each agent around the marked one. */
function renderChoice(
  { mode, agents, index }: Extract<PanelView, { kind: 'choosing' }>,
  room: number,
  context: LiveContext,
): readonly string[] {
  const { columns, colorize } = context;
  const help = renderHelp(CHOICE_HELP, context);
  const page = Math.max(1, room - help.length - 1);
  const first = Math.max(0, Math.min(index - Math.floor(page / 2), agents.length - page));
  const lines = agents.slice(first, first + page).map(({ label, state, question }, at) => {
    const number = first + at + 1;
    const text = sanitizeLine((mode === 'answer' ? (question?.text ?? '') : state).slice(0, MAX_LINE_CHARS));
    const line = shorten(`${number} ${label}: ${text}`, columns - 2);
    return first + at === index ? colorize('bold', `> ${line}`) : `  ${line}`;
  });
  return [colorize('yellow', choiceHead(mode, agents.length)), ...lines, ...help];
}

const choiceHead = (mode: TalkMode, count: number): string =>
  mode === 'answer' ? `${formatCount(count, 'question')}:` : mode === 'say' ? 'Say something to:' : 'Interrupt:';

/** The question, as much of it as fits, and the answer so far. */
function renderTyping(
  { mode, agent, line, offset, setRange, note }: Extract<PanelView, { kind: 'typing' }>,
  room: number,
  context: LiveContext,
): readonly string[] {
  const { columns, colorize, color, now } = context;
  const question = mode === 'answer' ? agent.question : null;
  const head = shorten(typingHead(mode, agent, now), columns);
  const choiceHelp = question?.choices == null ? '' : CHOICES_HELP;
  const help = room < FEW_ROWS ? [] : renderHelp(`${choiceHelp}${TYPING_HELP[mode]}`, context);
  const notes = note === null ? [] : [colorize('yellow', shorten(sanitizeLine(note), columns))];
  const rows = Math.max(1, Math.min(MAX_ANSWER_ROWS, Math.floor(room / 3)));
  const mark = (character: string): string =>
    color ? colorize('inverse', character === '' ? ' ' : character) : `|${character}`;
  const answer = renderAnswerLine(line, { columns: columns - PROMPT.length - 1, rows }, mark).map(
    (text, at) => `${colorize('cyan', at === 0 ? PROMPT : ' '.repeat(PROMPT.length))}${text}`,
  );
  const left = Math.max(0, room - 1 - answer.length - notes.length - help.length);
  const shown = question === null ? [] : renderQuestion(question, offset, left, setRange, context);
  return [colorize('yellow', head), ...shown, ...answer, ...notes, ...help].slice(-Math.max(1, room));
}

/** The agent that the panel talks to. */
function typingHead(mode: TalkMode, { label, state, question }: AgentView, now: number): string {
  const who = `${label} ${sanitizeLine(state)}`;
  if (mode === 'answer') return `? ${who} asks${question === null ? '' : formatDeadline(question, now)}:`;
  return mode === 'say' ? `Say to ${who}:` : `Interrupt ${who}:`;
}

/** The part of a question that is in view, and a line about the rest if there is any. */
function renderQuestion(
  question: QuestionView,
  offset: number,
  room: number,
  setRange: (lastOffset: number, page: number) => void,
  { columns, colorize }: LiveContext,
): readonly string[] {
  const lines = wrapQuestionOnce(question, columns);
  const page = lines.length <= room ? room : Math.max(0, room - 1);
  const lastOffset = Math.max(0, lines.length - page);
  setRange(lastOffset, Math.max(1, page));
  if (lastOffset === 0 || room === 0) return lines.slice(0, page);
  const above = Math.min(offset, lastOffset);
  const hidden = [above > 0 ? `↑ ${above} more` : '', above < lastOffset ? `↓ ${lastOffset - above} more` : ''];
  return [...lines.slice(above, above + page), colorize('dim', hidden.filter((part) => part !== '').join('   '))];
}

/** A question is laid out once for each width, and not for each frame. */
const wrapped = new WeakMap<QuestionView, { readonly columns: number; readonly lines: readonly string[] }>();

function wrapQuestionOnce(question: QuestionView, columns: number): readonly string[] {
  const known = wrapped.get(question);
  if (known?.columns === columns) return known.lines;
  const lines = wrapQuestion(question, columns);
  wrapped.set(question, { columns, lines });
  return lines;
}

const renderHelp = (text: string, { columns, colorize }: LiveContext): readonly string[] =>
  wrapText(text, columns).map((line) => colorize('dim', line));

const PROMPT = '> ';
const MAX_ANSWER_ROWS = 5;
const MAX_LINE_CHARS = 500;
/** With fewer lines there is no room for help. */
const FEW_ROWS = 6;
