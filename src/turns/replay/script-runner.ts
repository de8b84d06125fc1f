import { writeFileSync } from 'node:fs';
import type { ScriptTurn } from '../../core/due.ts';
import type { Failure } from '../../core/failure.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { CannedAnswer } from '../../scenario/scenario.ts';
import type { ScriptRunner } from '../backend.ts';
import { lookUpFolders } from '../folders.ts';
import {
  crashIfRequested,
  failIfUnplayable,
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
    return failIfUnplayable(this.context, turn, async () => {
      const dir = await reclaimTurnFolder(this.context, turn, adopted);
      const { answer } = requireAnswer(this.context, turn);
      const { clock } = this.context;
      if (!(await waitAnswerTime(this.context, answer, 1))) return failedSignal(turn, STOPPED, clock.now());
      for (const file of Object.entries(answer.write)) writeAnswerFile(this.context, turn, file);
      this.print(turn, dir, answer);
      await crashIfRequested(this.context, answer, adopted);
      const { text, exit, stderr } = answer;
      const stderrText = stderr === '' ? '' : `\n${stderr.trimEnd()}`;
      if (exit !== 0)
        return failedSignal(
          turn,
          { kind: 'script', message: `the script ended with exit code ${exit}${stderrText}` },
          clock.now(),
        );
      const { context } = this;
      const [scope, folders] = await Promise.all([context.readScope(), lookUpFolders(text, turn.policy, turn.cwd)]);
      return { kind: 'answered', at: clock.now(), agent: turn.agent, text, cost: null, denials: [], scope, folders };
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

function failedSignal({ agent }: ScriptTurn, failure: Failure, at: number): Failed {
  return { kind: 'failed', at, agent, failure, cost: null, progress: 'none', jitter: 0 };
}
