import { rulePerPage } from '../rule.ts';

/** A shell script has the line ends of Windows. */
export const crlfScript = rulePerPage('crlf-script', 'error', (page) => {
  const at = page.file.endsWith('.sh') ? page.source.state.text.indexOf('\r\n') : -1;
  if (at === -1) return [];
  const message = 'the lines end in CR LF, and bash takes the CR for a part of the last word';
  return [{ file: page.file, at: page.place(at), message, hint: 'Save the file with LF line ends.' }];
});
