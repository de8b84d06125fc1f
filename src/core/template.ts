/** A template with its variables filled in. */
export interface RenderedTemplate {
  readonly text: string;
  /** Variables that do not exist, each once; they stay in the text as written. */
  readonly unknown: readonly string[];
}

/**
 * Fills in `{{name}}` in one pass: the values themselves are never searched for templates.
 * Blanks inside the braces are fine; `\{{name}}` stays as `{{name}}`.
 */
export function renderTemplate(template: string, variables: Readonly<Record<string, string>>): RenderedTemplate {
  const unknown = new Set<string>();
  const text = template.replace(/(\\?)\{\{\s*([^\s{}]+)\s*\}\}/g, (match, backslash: string, name: string) => {
    if (backslash !== '') return match.slice(1);
    if (Object.hasOwn(variables, name)) return variables[name] ?? '';
    unknown.add(name);
    return match;
  });
  return { text, unknown: [...unknown] };
}
