import { tryParseJson } from './json.ts';

/** A template with its variables filled in. */
export interface RenderedTemplate {
  readonly text: string;
  /** Variables that do not exist, each once; they stay in the text as written. */
  readonly unknown: readonly string[];
}

/** The variables that may be JSON, so that `{{result.field}}` is a part of them. */
const STRUCTURED = ['result', 'input'];

/** True if a name means a part of a result: `result.items.0.name`. */
export const isResultPath = (name: string): boolean => STRUCTURED.some((each) => name.startsWith(`${each}.`));

/**
 * Fills in `{{name}}` in one pass: the values themselves are never searched for templates.
 * Blanks inside the braces are fine; `\{{name}}` stays as `{{name}}`.
 */
export function renderTemplate(template: string, variables: Readonly<Record<string, string>>): RenderedTemplate {
  const unknown = new Set<string>();
  const findPart = createPartFinder(variables);
  const text = template.replace(/(\\?)\{\{\s*([^\s{}]+)\s*\}\}/g, (match, backslash: string, name: string) => {
    if (backslash !== '') return match.slice(1);
    if (Object.hasOwn(variables, name)) return variables[name] ?? '';
    const part = isResultPath(name) ? findPart(name) : undefined;
    if (part !== undefined) return part;
    unknown.add(name);
    return match;
  });
  return { text, unknown: [...unknown] };
}

/** Finds the parts of results that are JSON; each is parsed once. */
function createPartFinder(variables: Readonly<Record<string, string>>): (path: string) => string | undefined {
  const parsed = new Map<string, unknown>();
  return (path) => {
    const [name = '', ...steps] = path.split('.');
    const text = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (text === undefined) return undefined;
    if (!parsed.has(name)) parsed.set(name, tryParseJson(text));
    let value = parsed.get(name);
    for (const step of steps) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
      if (Array.isArray(value) && step === 'length') return undefined;
      value = (value as Readonly<Record<string, unknown>>)[step];
    }
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  };
}
