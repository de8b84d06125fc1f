import { microsToUsd } from '../../core/run/ledger.ts';
import { tryParseJson } from '../../language/text/json.ts';
import { SYSTEM_CLOCK } from '../../process/clock.ts';
import { execProgram } from '../../process/exec-program.ts';
import { UNKNOWN_COSTS } from '../../turns/claude/cost.ts';
import { parseClaudeLine } from '../../turns/claude/event.ts';
import { formatClaudeVersion } from '../../turns/claude/find-claude.ts';
import { judgeClaudeTurn } from '../../turns/claude/outcome.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../../turns/claude/transcript.ts';
import { claudeEnvironment } from '../../turns/environment.ts';
import { errorResult, type HealthCheck, type HealthCheckResult, okResult, skippedResult } from './check.ts';

/** Checks that there is a Claude Code of a supported version. */
export const checkClaudeCode: HealthCheck = async ({ findClaude }) => {
  const { path, version } = await findClaude();
  return okResult(`${formatClaudeVersion(version)} at ${path}`);
};

const AUTH_STATUS_TIMEOUT_MS = 20_000;

/** Claude Code's names for the ways to sign in, in words. */
const SIGN_IN_METHODS: Readonly<Record<string, string>> = {
  api_key: 'with an API key',
  api_key_helper: 'with an API key from apiKeyHelper',
  oauth_token: 'with a token from the environment',
  'claude.ai': 'with a Claude account',
  third_party: 'through a cloud provider',
};

/** Checks that Claude Code is signed in. It reports that without a request to the API. */
export const checkSignIn: HealthCheck = async ({ findClaude, cwd, env }) => {
  const program = await findClaude().catch(() => null);
  if (program === null) return null;
  const quietEnv = { ...claudeEnvironment(env), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const result = await execProgram(program.path, ['auth', 'status'], {
    cwd,
    env: quietEnv,
    timeoutMs: AUTH_STATUS_TIMEOUT_MS,
  });
  return interpretAuthStatus(result.stdout);
};

/** Interprets the output of `claude auth status`. Its other fields, such as the e-mail address, are not shown. */
export function interpretAuthStatus(text: string): HealthCheckResult {
  const { loggedIn, authMethod } = parseAuthStatus(text);
  if (loggedIn === true) {
    const method =
      typeof authMethod === 'string' && Object.hasOwn(SIGN_IN_METHODS, authMethod)
        ? SIGN_IN_METHODS[authMethod]
        : undefined;
    return okResult(`yes${method === undefined ? '' : `, ${method}`}`);
  }
  if (loggedIn === false)
    return errorResult(
      'no: prompts would not be answered',
      'Sign in with `claude auth login`, or set ANTHROPIC_API_KEY.',
    );
  return skippedResult('`claude auth status` does not say');
}

function parseAuthStatus(text: string): { readonly loggedIn?: unknown; readonly authMethod?: unknown } {
  const value = tryParseJson(text.slice(text.indexOf('{')));
  return typeof value === 'object' && value !== null ? value : {};
}

const ANSWER_TIMEOUT_MS = 90_000;
const TEST_PROMPT = 'Are you there? Answer with the one word yes.';

/** Sends as little as possible (no tools, no project, a short system prompt) and saves no conversation. */
const TEST_PROMPT_ARGS = [
  '-p',
  '--output-format',
  'stream-json',
  '--verbose',
  '--no-session-persistence',
  '--tools',
  '',
  '--strict-mcp-config',
  '--system-prompt',
  'Answer in one word.',
  '--max-budget-usd',
  '0.01',
];

/**
 * Checks that Claude answers a prompt, with the model that runs here would use. It costs a little, so `ask` must be
 * set.
 */
export const checkAnswer: HealthCheck = async ({ findClaude, cwd, env, options, ask }) => {
  const program = await findClaude().catch(() => null);
  if (program === null) return null;
  if (!ask) return skippedResult('not asked; `raymond doctor --ask` sends one short prompt, for less than a cent');
  const startedAtMs = SYSTEM_CLOCK.now();
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
  const endedAtMs = SYSTEM_CLOCK.now();
  const transcript = result.stdout
    .split('\n')
    .reduce((soFar, line) => (line === '' ? soFar : addClaudeEvent(soFar, parseClaudeLine(line))), EMPTY_TRANSCRIPT);
  const outcome = judgeClaudeTurn({
    transcript,
    endCause: result.timedOut ? 'timeout' : 'exited',
    exitCode: result.exitCode,
    stderr: result.stderr,
    timeoutMessage: `no answer for ${ANSWER_TIMEOUT_MS / 1000} s`,
    resumable: false,
    endedAtMs,
    outputLost: false,
    priorLimits: 0,
    costBaseline: UNKNOWN_COSTS,
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
