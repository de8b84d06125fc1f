import { usdOf } from '../../core/ledger.ts';
import { claudeEnvironment } from '../../turns/claude/environment.ts';
import { readEvent } from '../../turns/claude/events.ts';
import { outcomeOf } from '../../turns/claude/outcome.ts';
import { EMPTY_TRANSCRIPT, hear } from '../../turns/claude/transcript.ts';
import { askProgram } from '../ask-program.ts';
import { type Check, skipped, well, wrong } from './check.ts';

const ANSWER_TIMEOUT_MS = 90_000;
const PROMPT = 'Are you there? Answer with the one word yes.';

/** As little as possible is sent: no tools, no project, a short system prompt; and nothing is kept of it. */
const ARGUMENTS = [
  '-p',
  ...['--output-format', 'stream-json', '--verbose', '--no-session-persistence'],
  ...['--tools', '', '--strict-mcp-config', '--system-prompt', 'Answer in one word.'],
  ...['--max-budget-usd', '0.01'],
];

/** Whether Claude answers a prompt, with the model that runs here would use. That costs a little, so it must be wanted. */
export const answer: Check = async ({ claude, cwd, env, options, ask }) => {
  const found = await claude().catch(() => null);
  if (found === null) return null;
  if (!ask) return skipped('not asked; `raymond doctor --ask` sends one short prompt, for less than a cent');
  const startedAtMs = Date.now();
  const said = await askProgram(
    found.path,
    [...ARGUMENTS, ...(options.model === null ? [] : ['--model', options.model])],
    {
      cwd,
      env: { CLAUDE_CODE_MAX_RETRIES: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...claudeEnvironment(env) },
      timeoutMs: ANSWER_TIMEOUT_MS,
      stdin: PROMPT,
    },
  );
  const endedAtMs = Date.now();
  const transcript = said.stdout
    .split('\n')
    .reduce((so, line) => (line === '' ? so : hear(so, readEvent(line))), EMPTY_TRANSCRIPT);
  const outcome = outcomeOf({
    transcript,
    ending: endedAtMs - startedAtMs >= ANSWER_TIMEOUT_MS ? 'timeout' : 'itself',
    exitCode: said.code,
    stderr: said.stderr,
    silence: `no answer for ${ANSWER_TIMEOUT_MS / 1000} s`,
    resumable: false,
    endedAtMs,
    probes: 0,
    cost: { savedUsd: null, prices: {} },
  });
  if (outcome.kind === 'answered' || transcript.answered) {
    const seconds = ((endedAtMs - startedAtMs) / 1000).toFixed(1);
    return well(
      `${transcript.model ?? 'the model'} answered in ${seconds} s, for $${usdOf(outcome.cost.micros).toFixed(4)}`,
    );
  }
  return wrong(
    outcome.failure.message.replace(/, then resume the run\.$/, '.'),
    'Try `claude -p hello` in this folder.',
  );
};
