import { isPromptFile } from '../case.ts';
import type { ModelAgent } from './model-agent.ts';
import { Mismatch, type RunModel } from './run-model.ts';

/** The kinds of warnings that must come exactly as often as something gives a reason for them. */
const EXPECTED: readonly (readonly [RegExp, (...words: readonly string[]) => string])[] = [
  [/cleared the return stack: (\d+) caller/, (count) => `stack ${count}`],
  [/is ignored: `force_implicit` takes/, () => 'ignored-tag'],
  [/^there is nothing to join/, () => 'nothing-to-join'],
  [/found no items for <fork-each>/, () => 'no-items'],
  [/there is no conversation yet that <compact>|the conversation could not be summarized/, () => 'no-summary'],
  [/was interrupted and runs again: it is repeatable/, () => 'runs-again'],
];

const hasForcedScript = ({ subject }: RunModel): boolean =>
  [...subject.workflows.values()].some(({ states }) =>
    [...states.values()].some(({ file, forceImplicit }) => forceImplicit && !isPromptFile(file)),
  );

/** True if there is something that a clone must not be removed with. */
const hasWork = ({ written, agents, clone }: RunModel): boolean =>
  written.some(({ path }) => path.startsWith(`${clone}/`)) ||
  [...agents.values()].some(({ worktree }) => worktree?.content?.kept === true);

/** Compares a warning with what gave reason to warn. */
export function seeWarning(model: RunModel, agent: ModelAgent, message: string): void {
  for (const [pattern, kindOf] of EXPECTED) {
    const found = pattern.exec(message);
    if (found === null) continue;
    const kind = kindOf(...found.slice(1));
    const at = agent.warnings.indexOf(kind);
    if (at === -1) throw new Mismatch(`there is no reason for this warning: ${message}`);
    agent.warnings.splice(at, 1);
    return;
  }
  const unset = /\{\{([\w.]+)\}\}.* is not set/.exec(message)?.[1];
  if (unset !== undefined) {
    const filled = model.render(agent, `{{${unset}}}`);
    if (filled !== `{{${unset}}}`) throw new Mismatch(`{{${unset}}} is ${filled}: ${message}`);
    return;
  }
  if (/has ended without having heard/.test(message)) {
    if (agent.messages.length === 0) throw new Mismatch(`it has heard everything: ${message}`);
    return;
  }
  if (/^the clone .* stays/.test(message) && hasWork(model)) return;
  if (/`force_implicit` has no effect in a script/.test(message) && hasForcedScript(model)) return;
  throw new Mismatch(`the model does not know this warning: ${message}`);
}
