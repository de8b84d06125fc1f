import { rulePerPage } from '../rule.ts';

/** A script begins with a byte order mark, which its shell takes for a part of the first command. */
export const byteOrderMark = rulePerPage('byte-order-mark', 'warning', (page) => {
  const [line = ''] = page.source.state.text.split('\n', 1);
  const isShell = page.file.endsWith('.sh');
  if (!line.startsWith('\uFEFF') || !(isShell || page.file.endsWith('.bat'))) return [];
  const rest = line.slice(1).trim();
  const lost = rest !== '' && !(isShell && rest.startsWith('#'));
  const shell = isShell ? 'bash' : 'cmd';
  const message =
    `the script begins with a byte order mark, which cannot be seen: ${shell} takes it for a part of line 1` +
    (lost ? ' and does not run that line' : ' and complains about that line');
  const hint = 'Save the file as UTF-8 without a byte order mark (BOM).';
  return [{ file: page.file, at: { line: 1, column: 1 }, message, hint, level: lost ? 'error' : 'warning' }];
});
