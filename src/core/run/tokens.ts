/** Numbers of tokens as Claude Code reports them: read, written, read from the cache and written to it. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A turn's use of one model; `weight` is the model's share of the cost, in any unit. */
export interface ModelUse {
  readonly model: string;
  readonly tokens: Tokens;
  readonly weight: number;
}

/** A turn's use of one model, and its cost. */
export interface ModelShare {
  readonly model: string;
  readonly tokens: Tokens;
  readonly micros: number;
}

/** No tokens at all. */
export const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const mapTokens = (tokens: Tokens, change: (count: number, name: keyof Tokens) => number): Tokens => ({
  input: change(tokens.input, 'input'),
  output: change(tokens.output, 'output'),
  cacheRead: change(tokens.cacheRead, 'cacheRead'),
  cacheWrite: change(tokens.cacheWrite, 'cacheWrite'),
});

/** The sum of two numbers of tokens, as long as numbers are exact. */
export const addTokens = (a: Tokens, b: Tokens): Tokens =>
  mapTokens(a, (count, name) => Math.min(Number.MAX_SAFE_INTEGER, count + b[name]));

/** The sum of all kinds of tokens. */
export const countTokens = ({ input, output, cacheRead, cacheWrite }: Tokens): number =>
  input + output + cacheRead + cacheWrite;

/** The tokens of several models together. */
export const sumTokens = (models: readonly { readonly tokens: Tokens }[]): Tokens =>
  models.reduce((sum, { tokens }) => addTokens(sum, tokens), NO_TOKENS);

/** No turn uses as many tokens of one kind: a larger report is a mistake. */
const MAX_TURN_TOKENS = 1e12;
/** Weights above this would not add up to a number. */
const MAX_WEIGHT = 1e15;
const MAX_MODEL_CHARS = 100;
/** More models than that are one. */
const MAX_MODELS = 16;
const OTHER_MODELS = 'others';

/** Splits the cost of a turn among its models by their weights, to the micro-dollar, with numbers that a turn can have. */
export function splitCost(micros: number, uses: readonly ModelUse[]): readonly ModelShare[] {
  const models = boundModels(uses);
  const total = models.reduce((sum, { weight }) => sum + weight, 0);
  let weightSoFar = 0;
  let microsSoFar = 0;
  return models.map(({ model, tokens, weight }, at) => {
    weightSoFar += weight;
    const isLast = at === models.length - 1;
    const until = isLast ? micros : total === 0 ? 0 : Math.round((micros * weightSoFar) / total);
    const share = { model, tokens, micros: until - microsSoFar };
    microsSoFar = until;
    return share;
  });
}

/** Puts uses of the same model together, and those of too many models; the ones that cost most come first. */
function boundModels(uses: readonly ModelUse[]): readonly ModelUse[] {
  const byModel = new Map<string, ModelUse>();
  const add = (name: string, { tokens, weight }: ModelUse): void => {
    const before = byModel.get(name);
    byModel.set(name, {
      model: name,
      tokens: addTokens(before?.tokens ?? NO_TOKENS, mapTokens(tokens, believableCount)),
      weight: (before?.weight ?? 0) + Math.min(Math.max(0, weight || 0), MAX_WEIGHT),
    });
  };
  for (const use of uses.toSorted((a, b) => b.weight - a.weight)) {
    const name = use.model.slice(0, MAX_MODEL_CHARS);
    add(byModel.has(name) || byModel.size < MAX_MODELS ? name : OTHER_MODELS, use);
  }
  return [...byModel.values()];
}

const believableCount = (count: number): number => Math.round(Math.min(Math.max(0, count), MAX_TURN_TOKENS)) || 0;
