import { defineStateRule } from '../rule.ts';

/** A shell script has Windows line endings. */
export const crlfScript = defineStateRule({ id: 'crlf-script', level: 'error' }, (analysis) => {
  const at = analysis.file.endsWith('.sh') ? analysis.source.state.text.indexOf('\r\n') : -1;
  if (at === -1) return [];
  const message = 'the lines end in CR LF, and bash treats the CR as part of the last word';
  return [{ at: analysis.positionAt(at), message, hint: 'Save the file with LF line endings.' }];
});
