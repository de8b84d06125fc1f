import type { Activity, ApiRetry } from '../core/run/activity.ts';
import { sanitizeLines } from './sanitize.ts';

/** `retrying in 8 s (3 of 10): 401 invalid key`, without the parts that are not known or have passed. */
export function formatApiRetry({ attempt, limit, reason }: ApiRetry, leftMs: number | null): string {
  const when = leftMs === null || leftMs <= 0 ? '' : ` in ${Math.ceil(leftMs / 1000)} s`;
  const count = attempt === null ? '' : ` (${attempt}${limit === null ? '' : ` of ${limit}`})`;
  return `retrying${when}${count}${reason === '' ? '' : `: ${reason}`}`;
}

/** An agent's activity as plain lines, each labelled with the agent: `|` before text, `>` before tools. */
export function formatActivity(
  { at, agent, doing }: Activity,
  labelOf: (id: string) => string = (id) => id,
): readonly string[] {
  const [sign, text] =
    doing.kind === 'uses'
      ? ['>', `${doing.tool} ${doing.detail}`]
      : doing.kind === 'retries'
        ? ['!', formatApiRetry(doing, doing.untilMs === null ? null : doing.untilMs - at)]
        : ['|', doing.text];
  return sanitizeLines(text).map((line) => `[${labelOf(agent)}] ${sign} ${line}`);
}
