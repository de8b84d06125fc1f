import { defineStateRule } from '../rule.ts';

/** A script begins with a byte order mark, which its shell treats as part of the first command. */
export const byteOrderMark = defineStateRule({ id: 'byte-order-mark', level: 'warning' }, (analysis) => {
  const [line = ''] = analysis.source.state.text.split('\n', 1);
  const isShell = analysis.file.endsWith('.sh');
  if (!line.startsWith('\uFEFF') || !(isShell || analysis.file.endsWith('.bat'))) return [];
  const rest = line.slice(1).trim();
  const losesLine = rest !== '' && !(isShell && rest.startsWith('#'));
  const shell = isShell ? 'bash' : 'cmd';
  const message =
    `the script begins with an invisible byte order mark: ${shell} treats it as part of line 1` +
    (losesLine ? ' and does not run that line' : ' and complains about that line');
  const hint = 'Save the file as UTF-8 without a byte order mark (BOM).';
  return [{ at: analysis.positionAt(0), message, hint, level: losesLine ? 'error' : 'warning' }];
});
