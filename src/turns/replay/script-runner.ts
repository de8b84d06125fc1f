import { writeFileSync } from 'node:fs';
import type { ScriptTurn } from '../../core/due.ts';
import type { Failure } from '../../core/failure.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { CannedAnswer } from '../../scenario/scenario.ts';
import type { ScriptRunner } from '../backend.ts';
import { answeredSignal, failedSignal } from '../signals.ts';
import {
  crashIfRequested,
  failIfUnusable,
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

  async prepare(turn: ScriptTurn): Promise<readonly string[]> {
    const { unknown } = requireAnswer(this.context, turn);
    await this.context.makeFolder(turn, { stdin: '' });
    return turn.visit === 1 ? unsetVariableWarnings(this.context, turn, unknown) : [];
  }

  take(turn: ScriptTurn, adopted: boolean): Promise<Answered | Failed> {
    return failIfUnusable(this.context, turn, async () => {
      const dir = await reclaimTurnFolder(this.context, turn, adopted);
      const { answer } = requireAnswer(this.context, turn);
      const { context } = this;
      const failed = (failure: Failure): Failed => failedSignal(turn, context.clock.now(), failure, 0);
      if (!(await waitAnswerTime(context, answer, 1))) return failed(STOPPED);
      for (const file of Object.entries(answer.write)) writeAnswerFile(context, turn, file);
      this.print(turn, dir, answer);
      await crashIfRequested(context, answer, adopted);
      const { text, exit, stderr } = answer;
      const stderrText = stderr === '' ? '' : `\n${stderr.trimEnd()}`;
      if (exit !== 0)
        return failed({ kind: 'script', message: `the script ended with exit code ${exit}${stderrText}` });
      return answeredSignal(context, turn, context.clock.now(), { text, cost: null, denials: [] });
    });
  }

  private print({ agent }: ScriptTurn, dir: string, { text, stderr }: CannedAnswer): void {
    const files = turnFiles(dir);
    writeFileSync(files.stdout, text, { mode: 0o600 });
    writeFileSync(files.stderr, stderr, { mode: 0o600 });
    for (const line of `${text}\n${stderr}`.split('\n').filter((each) => each.trim() !== '')) {
      this.context.onActivity?.({ at: this.context.clock.now(), agent, doing: { kind: 'prints', text: line } });
    }
  }
}

/** Nothing was started that could be half done, so the turn is simply taken again. */
const STOPPED: Failure = { kind: 'stopped', message: 'The turn was ended because the run was stopped.' };
