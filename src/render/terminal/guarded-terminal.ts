import { sanitize, sanitizeStyled } from '../sanitize.ts';
import type { Terminal } from './terminal.ts';

/**
 * The terminal that commands write to. Names and texts may be a stranger's: whatever a command writes, control characters
 * are removed here, except the styles that Raymond itself uses on a screen with color.
 */
export function guardTerminal(terminal: Terminal): Terminal {
  const { out, err, ask, startPager, outIsScreen = false, screen } = terminal;
  const sanitizeFor = (isScreen: boolean): ((text: string) => string) =>
    isScreen && screen?.color ? sanitizeStyled : sanitize;
  const [sanitizeOut, sanitizeErr] = [sanitizeFor(outIsScreen), sanitizeFor(true)];
  return {
    ...terminal,
    out: (text, form) => out(form === 'exact' && !outIsScreen ? text : sanitizeOut(text)),
    err: (text) => err(sanitizeErr(text)),
    ...(startPager !== undefined && {
      startPager: () => {
        const pager = startPager();
        return pager && { ...pager, write: (text: string) => pager.write(sanitizeOut(text)) };
      },
    }),
    ...(ask !== undefined && { ask: (question) => ask(sanitize(question)) }),
  };
}
