import { microsToUsd } from '../../core/ledger.ts';
import { claudeEnvironment } from '../../turns/claude/environment.ts';
import { parseClaudeLine } from '../../turns/claude/parse-event.ts';
import { judgeClaudeTurn } from '../../turns/claude/outcome.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../../turns/claude/transcript.ts';
import { execProgram } from '../exec-program.ts';
import { errorResult, type HealthCheck, okResult, skippedResult } from './check.ts';

const ANSWER_TIMEOUT_MS = 90_000;
const TEST_PROMPT = 'Are you there? Answer with the one word yes.';

/** As little as possible is sent: no tools, no project, a short system prompt; and nothing is kept of it. */
const TEST_PROMPT_ARGS = [
  '-p',
  ...['--output-format', 'stream-json', '--verbose', '--no-session-persistence'],
  ...['--tools', '', '--strict-mcp-config', '--system-prompt', 'Answer in one word.'],
  ...['--max-budget-usd', '0.01'],
];

/** Whether Claude answers a prompt, with the model that runs here would use. That costs a little, so it must be wanted. */
export const checkAnswer: HealthCheck = async ({ findClaude, cwd, env, options, ask }) => {
  const program = await findClaude().catch(() => null);
  if (program === null) return null;
  if (!ask) return skippedResult('not asked; `raymond doctor --ask` sends one short prompt, for less than a cent');
  const startedAtMs = Date.now();
  const result = await execProgram(
    program.path,
    [...TEST_PROMPT_ARGS, ...(options.model === null ? [] : ['--model', options.model])],
    {
      cwd,
      env: { CLAUDE_CODE_MAX_RETRIES: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...claudeEnvironment(env) },
      timeoutMs: ANSWER_TIMEOUT_MS,
      stdin: TEST_PROMPT,
    },
  );
  const endedAtMs = Date.now();
  const transcript = result.stdout
    .split('\n')
    .reduce((soFar, line) => (line === '' ? soFar : addClaudeEvent(soFar, parseClaudeLine(line))), EMPTY_TRANSCRIPT);
  const outcome = judgeClaudeTurn({
    transcript,
    endCause: endedAtMs - startedAtMs >= ANSWER_TIMEOUT_MS ? 'timeout' : 'itself',
    exitCode: result.exitCode,
    stderr: result.stderr,
    timeoutMessage: `no answer for ${ANSWER_TIMEOUT_MS / 1000} s`,
    resumable: false,
    endedAtMs,
    priorLimits: 0,
    costBaseline: { savedUsd: null, prices: {} },
  });
  if (outcome.kind === 'answered' || transcript.answered) {
    const seconds = ((endedAtMs - startedAtMs) / 1000).toFixed(1);
    return okResult(
      `${transcript.model ?? 'the model'} answered in ${seconds} s, for $${microsToUsd(outcome.cost.micros).toFixed(4)}`,
    );
  }
  return errorResult(
    outcome.failure.message.replace(/, then resume the run\.$/, '.'),
    'Try `claude -p hello` in this folder.',
  );
};
