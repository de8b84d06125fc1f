/** The first line of a text that is not blank, trimmed. */
export function firstLine(text: string): string {
  const trimmed = text.trimStart();
  const end = trimmed.indexOf('\n');
  return (end < 0 ? trimmed : trimmed.slice(0, end)).trimEnd();
}
