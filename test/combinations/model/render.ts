/** Fills variables into a template: once, and unknown ones stay. `{{result.n}}` is a part of a result that is an object. */
export function fillIn(template: string, variables: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (written, name: string) => {
    if (Object.hasOwn(variables, name)) return variables[name] ?? '';
    const [first, ...path] = name.split('.');
    if ((first !== 'result' && first !== 'input') || path.length === 0) return written;
    const part = partOf(variables[first], path);
    return part === undefined ? written : typeof part === 'string' ? part : JSON.stringify(part);
  });
}

function partOf(text: string | undefined, path: readonly string[]): unknown {
  if (text === undefined) return undefined;
  try {
    let value: unknown = JSON.parse(text);
    for (const key of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      value = (value as Record<string, unknown>)[key];
    }
    return value;
  } catch {
    return undefined;
  }
}
