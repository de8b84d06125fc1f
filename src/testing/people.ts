import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from '../core/run/run.ts';
import type { Signal } from '../core/signals/signal.ts';
import type { AskTurn } from '../core/turns/ask-turn.ts';
import type { FolderLayout } from '../disk/layout.ts';
import { findHandedFilesProblem } from '../language/ask.ts';
import { chooseAnswer } from '../language/choices.ts';
import { listWaitingAsks } from '../render/questions.ts';
import { type AsksByState, choosePersonAnswer, type PersonAnswer } from '../scenario/asks.ts';
import { putAnswer } from '../storage/answers.ts';
import { guessMime } from '../wiring/mime.ts';
import { createAnswerSource } from '../wiring/request-handler.ts';
import { openFileRequests } from '../wiring/run-context.ts';
import type { VirtualTime } from './virtual-time.ts';

type AskRef = Pick<AskTurn, 'agent' | 'state' | 'ask' | 'untilMs' | 'uploads' | 'choices'>;

/** How a question of a test ends, and when by the virtual clock; null as `answer` if its time is over then. */
interface PlannedEnd {
  readonly at: number;
  readonly answer: PersonAnswer | null;
}

/** The people who answer the questions of a test run, as its scenario says. */
export class People {
  /** The keys of the answers that were used. */
  readonly used = new Set<string>();
  /** Why answers would be refused, each message once; then it is as if nobody answered. */
  readonly refused = new Set<string>();
  private readonly asks: AsksByState;
  private readonly layout: FolderLayout;
  private readonly run: string;
  /** The number of each question, among those of its agent in its state. */
  private readonly numbers = new Map<string, number>();
  private readonly counts = new Map<string, number>();

  constructor(asks: AsksByState, layout: FolderLayout, run: string) {
    this.asks = asks;
    this.layout = layout;
    this.run = run;
  }

  /** Waits for the end of a question while its run continues; forever, if nobody answers and it has no timeout. */
  wait(turn: AskTurn, time: VirtualTime): Promise<Signal> {
    const { agent, ask, untilMs } = turn;
    const planned = this.plan(turn, time.now()) ?? (untilMs === null ? null : { at: untilMs, answer: null });
    if (planned === null) return new Promise(() => {});
    return time.whileRunning(async () => {
      await time.sleepUntil(planned.at, new AbortController().signal);
      const at = time.now();
      if (planned.answer === null) return { kind: 'ask_timed_out', at, agent, ask };
      await this.give(ask, planned.answer, at);
      const source = createAnswerSource(openFileRequests(this.layout, false), { pending: () => [] }, this.run, time);
      const answer = await source.find(turn);
      return answer == null
        ? { kind: 'ask_timed_out', at, agent, ask }
        : { kind: 'ask_answered', at, agent, ...answer };
    });
  }

  /** Answers what a run that has ended asks, the earliest first; when that was, or null if nobody answers any more. */
  async answerNext(run: Run): Promise<number | null> {
    const planned = listWaitingAsks(run).flatMap(({ agent, ask, askedAt, untilMs, question }) => {
      const turn = {
        agent: agent.id,
        state: agent.state,
        ask,
        untilMs,
        uploads: question.uploads,
        choices: question.choices,
      };
      const end = this.plan(turn, askedAt);
      return end === null ? [] : [{ ask, ...end }];
    });
    if (planned.length === 0) return null;
    const at = Math.min(...planned.map((each) => each.at));
    for (const { ask, answer, ...end } of planned)
      if (end.at === at && answer !== null) await this.give(ask, answer, at);
    return at;
  }

  private plan(question: AskRef, askedAt: number): PlannedEnd | null {
    const { untilMs } = question;
    const chosen = choosePersonAnswer(this.asks, question, this.numberOf(question));
    if (chosen === undefined) return null;
    this.used.add(chosen.key);
    const answer = chosen.answer && this.accept(question, chosen.answer);
    if (answer !== null && (untilMs === null || askedAt + answer.afterMs < untilMs))
      return { at: askedAt + answer.afterMs, answer };
    return untilMs === null ? null : { at: untilMs, answer: null };
  }

  private numberOf({ agent, state, ask }: AskRef): number {
    const known = this.numbers.get(ask);
    if (known !== undefined) return known;
    const number = (this.counts.get(`${agent}/${state}`) ?? 0) + 1;
    this.counts.set(`${agent}/${state}`, number);
    this.numbers.set(ask, number);
    return number;
  }

  /** The answer as the question takes it; null if it takes none such, and notes why. */
  private accept({ state, uploads, choices }: AskRef, answer: PersonAnswer): PersonAnswer | null {
    const chosen = choices === null ? null : chooseAnswer(choices, answer.text);
    const handed = Object.entries(answer.files).map(([name, content]) => {
      return { name, size: Buffer.byteLength(content), mime: guessMime(name) };
    });
    const problem = chosen?.kind === 'refused' ? chosen : findHandedFilesProblem(uploads, handed);
    if (problem === undefined) return chosen?.kind === 'chosen' ? { ...answer, text: chosen.text } : answer;
    this.refused.add(`what a person answers in ${state} is refused: ${problem.message}`);
    return null;
  }

  private async give(ask: string, { text, files }: PersonAnswer, answeredAt: number): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'raymond-files-'));
    try {
      const uploads = Object.keys(files).map((name) => ({ name, path: join(folder, name) }));
      for (const { name, path } of uploads) await writeFile(path, files[name] ?? '');
      const answer = { ask, text, by: 'the scenario', answeredAt };
      await putAnswer(openFileRequests(this.layout, false), this.run, answer, uploads);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
