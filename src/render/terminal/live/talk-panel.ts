import { errorMessageOf } from '../../../errors.ts';
import { chooseAnswer } from '../../../language/choices.ts';
import type { TalkTarget } from '../reporter.ts';
import { type AnswerLine, createAnswerLine, editLine, insertText } from './answer-line.ts';
import type { AgentView } from './view.ts';

/** The action of the panel: answer a question, message an agent, or interrupt one. */
export type TalkMode = 'answer' | 'say' | 'interrupt';

/** By what a person does, the agents with which that can be done now. */
export type Listeners = Readonly<Record<TalkMode, readonly AgentView[]>>;

/** The content of the panel: the list to choose from, or one agent and the text typed for it. */
export type PanelView =
  | {
      readonly kind: 'choosing';
      readonly mode: TalkMode;
      readonly agents: readonly AgentView[];
      readonly index: number;
    }
  | {
      readonly kind: 'typing';
      readonly mode: TalkMode;
      readonly agent: AgentView;
      readonly line: AnswerLine;
      readonly offset: number;
      /** How far the question can be scrolled is known only when it is laid out. */
      readonly setRange: (lastOffset: number, page: number) => void;
      readonly note: string | null;
    };

/** The panel's dependencies. */
export interface PanelActions extends TalkTarget {
  /** Opens the user's editor with a text; missing where there is none. Throws if it cannot be opened. */
  readonly edit?: (text: string, question: string) => Promise<string>;
  readonly print: (line: string) => void;
  readonly repaint: () => void;
}

interface Typing {
  readonly mode: TalkMode;
  /** The question that is answered, or the agent that is talked to. */
  readonly to: string;
  readonly line: AnswerLine;
  readonly offset: number;
  readonly note: string | null;
  /** True if the answer is on its way: then nothing more can be typed. */
  readonly isSent: boolean;
}

type PanelState =
  | { readonly kind: 'closed' }
  | { readonly kind: 'choosing'; readonly mode: TalkMode; readonly index: number }
  | ({ readonly kind: 'typing' } & Typing);

const CLOSED: PanelState = { kind: 'closed' };

/** Where people talk with agents in the live view. It takes all keys while it is open. */
export class TalkPanel {
  private readonly actions: PanelActions;
  private listeners: Listeners = NOBODY;
  private state: PanelState = CLOSED;
  /** Unsent drafts, by their target. */
  private readonly drafts = new Map<string, AnswerLine>();
  private range = { lastOffset: 0, page: 1 };
  /** The text being pasted; null for none. */
  private pasted: string[] | null = null;

  constructor(actions: PanelActions) {
    this.actions = actions;
  }

  get isOpen(): boolean {
    return this.state.kind !== 'closed';
  }

  get isPasting(): boolean {
    return this.pasted !== null;
  }

  /** Takes who can be talked with now. Who cannot any more is left, and what was typed for it is shown once more. */
  update(listeners: Listeners): void {
    this.listeners = listeners;
    const { state } = this;
    if (state.kind === 'choosing' && listeners[state.mode].length === 0) this.state = CLOSED;
    if (state.kind !== 'typing' || this.find(state) !== undefined) return;
    this.state = CLOSED;
    this.drafts.delete(draftKey(state));
    if (!state.isSent) this.showUnsent(state, state.line.text);
  }

  private showUnsent({ mode, to }: Pick<Typing, 'mode' | 'to'>, text: string): void {
    if (text.trim() === '') return;
    this.actions.print(
      mode === 'interrupt'
        ? `${to} is at no turn any more; what you typed was not sent: ${text.trim()}`
        : `${to} has ended; what you typed was not sent: ${text.trim()}`,
    );
  }

  /** The content to show; null if the panel is closed. */
  get view(): PanelView | null {
    const { state, listeners } = this;
    if (state.kind === 'choosing') {
      const agents = listeners[state.mode];
      return { ...state, agents, index: Math.min(state.index, agents.length - 1) };
    }
    const agent = state.kind === 'typing' ? this.find(state) : undefined;
    if (state.kind !== 'typing' || agent === undefined) return null;
    const setRange = (lastOffset: number, page: number): void => {
      this.range = { lastOffset, page };
    };
    return { ...state, agent, setRange };
  }

  /** Takes a key. False if it is none of the panel's: then it means what it means in the live view. */
  press(key: string, typed: string): boolean {
    const { state } = this;
    if (state.kind === 'closed') return this.open(MODES.get(key));
    if (state.kind === 'choosing') this.pressChoosing(key, state.mode, state.index);
    else this.pressTyping(state, key, typed);
    return true;
  }

  private open(mode: TalkMode | undefined): boolean {
    const [only, second] = mode === undefined ? [] : this.listeners[mode];
    if (mode === undefined || only === undefined) return false;
    if (second === undefined) this.startTyping(mode, only);
    else this.state = { kind: 'choosing', mode, index: 0 };
    return true;
  }

  private pressChoosing(key: string, mode: TalkMode, marked: number): void {
    const agents = this.listeners[mode];
    const last = agents.length - 1;
    const index = Math.min(marked, last);
    const moveTo = (to: number): void => {
      this.state = { kind: 'choosing', mode, index: Math.max(0, Math.min(to, last)) };
    };
    const chosen = /^[1-9]$/.test(key) ? agents[Number(key) - 1] : key === 'return' ? agents[index] : undefined;
    if (chosen !== undefined) this.startTyping(mode, chosen);
    else if (key === 'escape' || key === 'ctrl-c') this.state = CLOSED;
    else if (key === 'up' || key === 'k') moveTo(index - 1);
    else if (key === 'down' || key === 'j') moveTo(index + 1);
    else if (key === 'pageup' || key === 'home') moveTo(key === 'home' ? 0 : index - PAGE);
    else if (key === 'pagedown' || key === 'end') moveTo(key === 'end' ? last : index + PAGE);
  }

  private startTyping(mode: TalkMode, agent: AgentView): void {
    const target = { mode, to: addressOf(mode, agent) };
    const line = this.drafts.get(draftKey(target)) ?? createAnswerLine();
    this.pasted = null;
    this.state = { kind: 'typing', ...target, line, offset: 0, note: null, isSent: false };
  }

  private pressTyping(state: Typing, key: string, typed: string): void {
    if (this.pasted !== null) this.continuePaste(state, this.pasted, key, typed);
    else if (key === 'paste-start') this.pasted = [];
    else if (key === 'escape' || key === 'ctrl-c') this.leave(state);
    else if (state.isSent) return;
    else if (key === 'return') this.send(state);
    else if (this.isChoice(state, key)) this.send({ ...state, line: createAnswerLine(key) });
    else if (key === 'ctrl-g' && this.actions.edit !== undefined) this.edit(state, this.actions.edit);
    else if (SCROLLS.has(key)) this.scroll(state, SCROLLS.get(key)?.(this.range.page) ?? 0);
    else this.setTyping(state, { line: editLine(state.line, key, typed), note: null });
  }

  /** True for the digit of a choice, unless more may follow it. */
  private isChoice(state: Typing, key: string): boolean {
    const choices = state.mode === 'answer' ? (this.find(state)?.question?.choices ?? null) : null;
    if (choices === null || choices.many || choices.other || state.line.text !== '') return false;
    return /^[1-9]$/.test(key) && chooseAnswer(choices, key).kind === 'chosen';
  }

  /** Keeps what is pasted until it is complete: a line break in it sends nothing. */
  private continuePaste(state: Typing, pasted: string[], key: string, typed: string): void {
    if (key !== 'paste-end') {
      pasted.push(key === 'return' || key === 'enter' ? '\n' : key === 'tab' ? '\t' : typed);
      return;
    }
    this.pasted = null;
    this.setTyping(state, { line: insertText(state.line, pasted.join('')), note: null });
  }

  private scroll(state: Typing, lines: number): void {
    this.setTyping(state, { offset: Math.max(0, Math.min(state.offset + lines, this.range.lastOffset)) });
  }

  private leave(state: Typing): void {
    this.drafts.set(draftKey(state), state.line);
    this.pasted = null;
    this.state = CLOSED;
  }

  private setTyping(state: Typing, changes: Partial<Typing>): void {
    this.state = { kind: 'typing', ...state, ...changes };
  }

  /** Changes what is typed for somebody, unless the user has left that meanwhile. */
  private changeLater(target: Typing, changes: Partial<Typing>): void {
    const { state } = this;
    if (state.kind === 'typing' && draftKey(state) === draftKey(target)) this.setTyping(state, changes);
    this.actions.repaint();
  }

  private send(state: Typing): void {
    const { mode, to, line } = state;
    const text = line.text.trim();
    if (text === '' && mode !== 'interrupt') {
      this.setTyping(state, { note: mode === 'answer' ? 'Type an answer first.' : 'Type what is to be said first.' });
      return;
    }
    this.setTyping(state, { isSent: true, note: 'sending' });
    this.pass(mode, to, text).then(
      (isTaken) => (isTaken ? this.finish(state) : this.changeLater(state, { isSent: false, note: TOO_LATE })),
      (error: unknown) => this.changeLater(state, { isSent: false, note: `It was not sent: ${errorMessageOf(error)}` }),
    );
  }

  private async pass(mode: TalkMode, to: string, text: string): Promise<boolean> {
    if (mode === 'answer') return this.actions.answer(to, text);
    await (mode === 'say' ? this.actions.say(to, text) : this.actions.interrupt(to, text === '' ? null : text));
    return true;
  }

  private finish(state: Typing): void {
    this.drafts.delete(draftKey(state));
    if (this.state.kind === 'typing' && draftKey(this.state) === draftKey(state)) this.state = CLOSED;
    this.actions.repaint();
  }

  private edit(state: Typing, edit: NonNullable<PanelActions['edit']>): void {
    const question = state.mode === 'answer' ? (this.find(state)?.question?.text ?? '') : '';
    edit(state.line.text, question).then(
      (text) => {
        if (this.find(state) === undefined) this.showUnsent(state, text);
        this.changeLater(state, { line: createAnswerLine(text), note: null });
      },
      (error: unknown) => this.changeLater(state, { note: errorMessageOf(error) }),
    );
  }

  private find({ mode, to }: Pick<Typing, 'mode' | 'to'>): AgentView | undefined {
    return this.listeners[mode].find((agent) => addressOf(mode, agent) === to);
  }
}

const NOBODY: Listeners = { answer: [], say: [], interrupt: [] };

/** The keys that open the panel. */
const MODES: ReadonlyMap<string, TalkMode> = new Map<string, TalkMode>([
  ['a', 'answer'],
  ['return', 'answer'],
  ['s', 'say'],
  ['i', 'interrupt'],
]);

const addressOf = (mode: TalkMode, { id, question }: AgentView): string =>
  mode === 'answer' ? (question?.ask ?? '') : id;

const draftKey = ({ mode, to }: Pick<Typing, 'mode' | 'to'>): string => `${mode} ${to}`;

const TOO_LATE = 'It was not sent: the question has just ended.';
const PAGE = 10;

/** How many lines of the question a key scrolls, by the lines of a page. */
const SCROLLS: ReadonlyMap<string, (page: number) => number> = new Map<string, (page: number) => number>([
  ['up', () => -1],
  ['down', () => 1],
  ['pageup', (page) => -page],
  ['pagedown', (page) => page],
]);
