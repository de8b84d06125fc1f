import { toLinearSource } from './linear-source.ts';
import { isSurelyQuick } from './pattern-cost.ts';

/** A compiled pattern. */
export interface Matcher {
  readonly test: (text: string) => boolean;
  /** Tells it from others: ajv keeps one matcher per text. */
  readonly toString: () => string;
}

/** Loads the engine that needs linear time, and returns the function that compiles a pattern for it if it can. */
export async function loadMatchers(): Promise<(pattern: string, flags: string) => Matcher> {
  const { RE2JS } = await import('re2js');
  const compileLinear = (pattern: string, flags: string): Pick<Matcher, 'test'> | null => {
    const linear = toLinearSource(pattern, flags);
    if (linear === null) return null;
    try {
      const compiled = RE2JS.compile(linear.source, linear.ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
      const native = new RegExp(pattern, flags);
      return { test: (text) => (linear.unfit?.test(text) ? native.test(text) : compiled.matcher(text).find()) };
    } catch {
      // It has limits of its own, such as that of a count.
      return null;
    }
  };
  return (pattern, flags) => {
    const native = new RegExp(pattern, flags);
    let linear: Pick<Matcher, 'test'> | null | undefined;
    return {
      test: (text) => {
        if (isSurelyQuick(pattern, text.length)) return native.test(text);
        if (linear === undefined) linear = compileLinear(pattern, flags);
        return (linear ?? native).test(text);
      },
      toString: () => native.toString(),
    };
  };
}

/** A pattern and the text to search. */
export interface MatchRequest {
  readonly pattern: string;
  readonly flags: string;
  readonly text: string;
}

/** Searches a text for a pattern, in this thread. */
export async function matchPatternHere({ pattern, flags, text }: MatchRequest): Promise<boolean> {
  return (await loadMatchers())(pattern, flags).test(text);
}
