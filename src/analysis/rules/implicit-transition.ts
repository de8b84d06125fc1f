import { implicitTag, statesNamed } from '../../core/policy.ts';
import { literalTag } from '../../core/reminder.ts';
import { rulePerPage } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** A state takes its only transition without being told to. */
export const implicitTransition = rulePerPage('implicit-transition', 'info', (page, { names }) => {
  const { policy } = page.source.state.rules;
  const [entry] = policy;
  if (page.broken || entry === undefined || implicitTag(policy) === undefined) return [];
  if (statesNamed(entry).some(([, name]) => names.resolve(name).kind !== 'found')) return [];
  const message = `\`${literalTag(entry)}\` is taken without being said: it is the only transition here`;
  const worker =
    ' Then one worker starts, with no other variables than the `allowed_transitions` give; for more, the prompt has to ask for the tags.';
  const hint = `The prompt need not ask for a tag; it only has to say when to stop.${entry.tag === 'fork' ? worker : ''}`;
  return [{ file: page.file, at: page.source.entries[0]?.at ?? WHOLE, message, hint }];
});
