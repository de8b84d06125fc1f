import { writeFileSync } from 'node:fs';
import type { Answered, Failed } from '../../core/signals/signal.ts';
import type { ScriptTurn } from '../../core/turns/due.ts';
import type { Failure } from '../../language/failure.ts';
import type { State } from '../../language/state.ts';
import { readPrints } from '../../language/tags/prints.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { CannedAnswer } from '../../scenario/scenario.ts';
import type { ScriptRunner } from '../backend.ts';
import { PrintReporter } from '../print-reporter.ts';
import { answeredSignal, failedSignal } from '../signals.ts';
import {
  crashIfRequested,
  failIfUnusable,
  mayExceedVisits,
  NO_UNKNOWN_VARIABLES,
  type ReplayContext,
  reclaimTurnFolder,
  requireAnswer,
  unsetVariableWarnings,
  waitAnswerTime,
  writeAnswerFile,
} from './canned-turn.ts';

/** Answers for the scripts that have canned answers, instead of running them. */
export class ReplayScriptRunner implements ScriptRunner {
  private readonly context: ReplayContext;

  constructor(context: ReplayContext) {
    this.context = context;
  }

  async prepare(turn: ScriptTurn, { rules }: State): Promise<readonly string[]> {
    const { unknown } = mayExceedVisits(turn, rules) ? NO_UNKNOWN_VARIABLES : requireAnswer(this.context, turn);
    await this.context.makeFolder(turn, { stdin: '' });
    return turn.visit === 1 ? unsetVariableWarnings(this.context, turn, unknown) : [];
  }

  take(turn: ScriptTurn, adopted: boolean): Promise<Answered | Failed> {
    return failIfUnusable(this.context, turn, async () => {
      const dir = await reclaimTurnFolder(this.context, turn, adopted);
      const { answer } = requireAnswer(this.context, turn);
      const { context } = this;
      const failed = (failure: Failure): Failed => failedSignal(turn, context.clock.now(), failure, 0);
      if (!(await waitAnswerTime(context, turn, answer, 1))) return failed(STOPPED);
      for (const file of Object.entries(answer.write)) writeAnswerFile(context, turn, file);
      const prints = new PrintReporter(context, turn, adopted);
      this.print(turn, dir, answer, prints);
      await crashIfRequested(context, answer, adopted);
      const { text, exit, stderr, fail } = answer;
      const stderrText = stderr === '' ? '' : `\n${stderr.trimEnd()}`;
      const signal =
        fail === 'timeout'
          ? failed({ kind: 'timeout', message: TIMED_OUT })
          : exit === 0
            ? await answeredSignal(context, turn, context.clock.now(), { text, cost: null, denials: [] })
            : failed({ kind: 'script', message: `the script ended with exit code ${exit}${stderrText}` });
      return { ...signal, ...prints.signalFields };
    });
  }

  private print({ agent }: ScriptTurn, dir: string, answer: CannedAnswer, reporter: PrintReporter): void {
    const files = turnFiles(dir);
    for (const [stream, text] of [
      ['stdout', answer.text],
      ['stderr', answer.stderr],
    ] as const) {
      writeFileSync(files[stream], text, { mode: 0o600 });
      const { prints, rest } = readPrints(text);
      reporter.add(stream, prints);
      for (const line of rest.split('\n').filter((each) => each.trim() !== '')) {
        this.context.onActivity?.({ at: this.context.clock.now(), agent, doing: { kind: 'prints', text: line } });
      }
    }
  }
}

const TIMED_OUT = 'the script was ended: no output for too long';

/** Nothing was started that could be half done, so the turn is simply taken again. */
const STOPPED: Failure = { kind: 'stopped', message: 'The turn was ended because the run was stopped.' };
