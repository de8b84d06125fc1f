import { errorMessageOf } from '../../errors.ts';
import { type AnswerLine, createAnswerLine, editLine, insertText } from './answer-line.ts';
import type { AgentView } from './view.ts';

/** An agent that waits for the answer of a person. */
export type AskingView = AgentView & { readonly question: NonNullable<AgentView['question']> };

/** What is shown of the panel: the list to choose from, or one question and the answer that is typed. */
export type PanelView =
  | { readonly kind: 'choosing'; readonly asking: readonly AskingView[]; readonly index: number }
  | {
      readonly kind: 'typing';
      readonly agent: AskingView;
      readonly line: AnswerLine;
      readonly offset: number;
      /** How far the question can be scrolled is known only when it is laid out. */
      readonly setRange: (lastOffset: number, page: number) => void;
      readonly note: string | null;
    };

/** What the panel needs of the outside. */
export interface PanelActions {
  /** Answers a question; false if it has ended already. */
  readonly answer: (ask: string, text: string) => Promise<boolean>;
  /** Opens the user's editor with a text; missing where there is none. Throws if it cannot be opened. */
  readonly edit?: (text: string, question: string) => Promise<string>;
  readonly print: (line: string) => void;
  readonly repaint: () => void;
}

interface Typing {
  readonly ask: string;
  readonly line: AnswerLine;
  readonly offset: number;
  readonly note: string | null;
  /** Whether the answer is on its way: then nothing more can be typed. */
  readonly isSent: boolean;
}

type PanelState =
  | { readonly kind: 'closed' }
  | { readonly kind: 'choosing'; readonly index: number }
  | ({ readonly kind: 'typing' } & Typing);

const CLOSED: PanelState = { kind: 'closed' };

/** Where questions are answered in the live view. It takes all keys while it is open. */
export class AnswerPanel {
  private readonly actions: PanelActions;
  private asking: readonly AskingView[] = [];
  private state: PanelState = CLOSED;
  /** What was typed for questions that were left again. */
  private readonly drafts = new Map<string, AnswerLine>();
  private range = { lastOffset: 0, page: 1 };
  /** What is being pasted; null if nothing is. */
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

  /** Takes the questions that wait now. One that has ended meanwhile is left, and what was typed for it is shown once more. */
  update(asking: readonly AskingView[]): void {
    this.asking = asking;
    const { state } = this;
    if (state.kind === 'choosing' && asking.length === 0) this.state = CLOSED;
    if (state.kind !== 'typing' || this.find(state.ask) !== undefined) return;
    this.state = CLOSED;
    this.drafts.delete(state.ask);
    if (!state.isSent) this.showUnsent(state.ask, state.line.text);
  }

  private showUnsent(ask: string, text: string): void {
    if (text.trim() !== '') this.actions.print(`${ask} has ended; what you typed was not sent: ${text.trim()}`);
  }

  /** What is to be shown; null if the panel is closed. */
  get view(): PanelView | null {
    const { state, asking } = this;
    if (state.kind === 'choosing') return { kind: 'choosing', asking, index: Math.min(state.index, asking.length - 1) };
    const agent = state.kind === 'typing' ? this.find(state.ask) : undefined;
    if (state.kind !== 'typing' || agent === undefined) return null;
    const setRange = (lastOffset: number, page: number): void => {
      this.range = { lastOffset, page };
    };
    return { ...state, agent, setRange };
  }

  /** Takes a key. False if it is none of the panel's: then it means what it means in the live view. */
  press(key: string, typed: string): boolean {
    const { state } = this;
    if (state.kind === 'closed') return (key === 'a' || key === 'return') && this.open();
    if (state.kind === 'choosing') this.pressChoosing(key, Math.min(state.index, this.asking.length - 1));
    else this.pressTyping(state, key, typed);
    return true;
  }

  private open(): boolean {
    const [only, second] = this.asking;
    if (only === undefined) return false;
    if (second === undefined) this.startTyping(only.question.ask);
    else this.state = { kind: 'choosing', index: 0 };
    return true;
  }

  private pressChoosing(key: string, index: number): void {
    const last = this.asking.length - 1;
    const moveTo = (to: number): void => {
      this.state = { kind: 'choosing', index: Math.max(0, Math.min(to, last)) };
    };
    const chosen = /^[1-9]$/.test(key)
      ? this.asking[Number(key) - 1]
      : key === 'return'
        ? this.asking[index]
        : undefined;
    if (chosen !== undefined) this.startTyping(chosen.question.ask);
    else if (key === 'escape' || key === 'ctrl-c') this.state = CLOSED;
    else if (key === 'up' || key === 'k') moveTo(index - 1);
    else if (key === 'down' || key === 'j') moveTo(index + 1);
    else if (key === 'pageup' || key === 'home') moveTo(key === 'home' ? 0 : index - PAGE);
    else if (key === 'pagedown' || key === 'end') moveTo(key === 'end' ? last : index + PAGE);
  }

  private startTyping(ask: string): void {
    const line = this.drafts.get(ask) ?? createAnswerLine();
    this.pasted = null;
    this.state = { kind: 'typing', ask, line, offset: 0, note: null, isSent: false };
  }

  private pressTyping(state: Typing, key: string, typed: string): void {
    if (this.pasted !== null) this.continuePaste(state, this.pasted, key, typed);
    else if (key === 'paste-start') this.pasted = [];
    else if (key === 'escape' || key === 'ctrl-c') this.leave(state);
    else if (state.isSent) return;
    else if (key === 'return') this.send(state);
    else if (key === 'ctrl-g' && this.actions.edit !== undefined) this.edit(state, this.actions.edit);
    else if (SCROLLS.has(key)) this.scroll(state, SCROLLS.get(key)?.(this.range.page) ?? 0);
    else this.setTyping(state, { line: editLine(state.line, key, typed), note: null });
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

  private leave({ ask, line }: Typing): void {
    this.drafts.set(ask, line);
    this.pasted = null;
    this.state = CLOSED;
  }

  private setTyping(state: Typing, changes: Partial<Typing>): void {
    this.state = { kind: 'typing', ...state, ...changes };
  }

  /** Changes what is typed for a question, unless the user has left it meanwhile. */
  private changeLater(ask: string, changes: Partial<Typing>): void {
    if (this.state.kind === 'typing' && this.state.ask === ask) this.setTyping(this.state, changes);
    this.actions.repaint();
  }

  private send(state: Typing): void {
    const { ask, line } = state;
    const text = line.text.trim();
    if (text === '') {
      this.setTyping(state, { note: 'Type an answer first.' });
      return;
    }
    this.setTyping(state, { isSent: true, note: 'sending' });
    this.actions.answer(ask, text).then(
      (isFirst) => (isFirst ? this.finish(ask) : this.changeLater(ask, { isSent: false, note: TOO_LATE })),
      (error: unknown) => this.changeLater(ask, { isSent: false, note: `It was not sent: ${errorMessageOf(error)}` }),
    );
  }

  private finish(ask: string): void {
    this.drafts.delete(ask);
    if (this.state.kind === 'typing' && this.state.ask === ask) this.state = CLOSED;
    this.actions.repaint();
  }

  private edit(state: Typing, edit: NonNullable<PanelActions['edit']>): void {
    const { ask, line } = state;
    const question = this.find(ask)?.question.text ?? '';
    edit(line.text, question).then(
      (text) => {
        if (this.find(ask) === undefined) this.showUnsent(ask, text);
        this.changeLater(ask, { line: createAnswerLine(text), note: null });
      },
      (error: unknown) => this.changeLater(ask, { note: errorMessageOf(error) }),
    );
  }

  private find(ask: string): AskingView | undefined {
    return this.asking.find(({ question }) => question.ask === ask);
  }
}

const TOO_LATE = 'It was not sent: the question has just ended.';
const PAGE = 10;

/** How many lines of the question a key scrolls, by the lines of a page. */
const SCROLLS: ReadonlyMap<string, (page: number) => number> = new Map<string, (page: number) => number>([
  ['up', () => -1],
  ['down', () => 1],
  ['pageup', (page) => -page],
  ['pagedown', (page) => page],
]);
