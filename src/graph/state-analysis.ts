import { readScriptTags, type ScriptTags, type SureMention } from '../bash/script-tags.ts';
import { fileInWorkflow } from '../language/named-workflows.ts';
import { stem } from '../language/state-names.ts';
import type { UnclosedMention } from '../language/tags/tag-mentions.ts';
import type { TextPosition } from '../language/text/text.ts';
import { readPromptTags } from './prompt-tags.ts';
import { newResolvers, type StateResolver } from './state-resolver.ts';
import { positionInBody, type StateSource, type WorkflowSource } from './workflow-source.ts';

/** A tag in a state's file. */
export type PlacedTag = Omit<SureMention, 'offset' | 'nameOffsets'> & {
  readonly at: TextPosition;
  /** Where names of states are written that are not in the tag, by attribute; that of the tag's text has the empty name. */
  readonly namesAt?: Readonly<Record<string, TextPosition>>;
};

/** A state's file with everything that was read from it. */
export interface StateAnalysis {
  readonly file: string;
  readonly kind: 'prompt' | 'script';
  readonly source: StateSource;
  /** Finds the states of its workflow. */
  readonly names: StateResolver;
  readonly tags: readonly PlacedTag[];
  /** The same tags as they will be written: with the values that a script gives its variables, one for each alternative. */
  readonly expandedTags: readonly PlacedTag[];
  readonly unclosedTags: readonly (Omit<UnclosedMention, 'offset'> & {
    readonly at: TextPosition;
    readonly sure: boolean;
  })[];
  /** The tags that a prompt shows in code, if it has others outside of code. */
  readonly tagsInCode: readonly PlacedTag[];
  /** The paths through a shell script, if they are known. */
  readonly paths: ScriptTags['paths'];
  /** True if it may make transitions that its file does not show. */
  readonly open: boolean;
  /** True if its frontmatter has errors, so that not all of it is known. */
  readonly broken: boolean;
  /** The position of an offset in `source.state.text`. */
  positionAt(offset: number): TextPosition;
}

/** Analyzes the states of a workflow, each by itself. */
export function analyzeStates(workflow: WorkflowSource): readonly StateAnalysis[] {
  const fileNames = new Set(
    workflow.files.flatMap(({ file }) =>
      [fileInWorkflow(file), stem(fileInWorkflow(file))].map((name) => name.toLowerCase()),
    ),
  );
  const isState = (name: string): boolean => fileNames.has(name.trim().toLowerCase());
  const resolverOf = newResolvers(workflow);
  return workflow.files.flatMap((file) =>
    file.kind === 'state' ? analyzeState(file, resolverOf(file.file), isState) : [],
  );
}

function analyzeState(source: StateSource, names: StateResolver, isState: (name: string) => boolean): StateAnalysis {
  const { file, state, findings } = source;
  const positionAt = createBodyLookup(source);
  const placed = <T extends { offset: number }>({ offset, ...rest }: T) => ({ ...rest, at: positionAt(offset) });
  const placedTag = ({ nameOffsets = {}, ...tag }: SureMention): PlacedTag => {
    const names = Object.entries(nameOffsets).map(([key, offset]) => [key, positionAt(offset)] as const);
    return { ...placed(tag), ...(names.length > 0 && { namesAt: Object.fromEntries(names) }) };
  };
  const broken = findings.some(({ level }) => level === 'error');
  const reading =
    state.kind === 'script'
      ? { ...readScriptTags(file, state.text), tagsInCode: [] }
      : { ...readPromptTags(state.text, state.rules, isState), paths: undefined, open: false };
  return {
    file,
    kind: state.kind,
    source,
    names,
    tags: reading.tags.map(placed),
    expandedTags: reading.expandedTags.map(placedTag),
    unclosedTags: reading.unclosedTags.map(placed),
    tagsInCode: reading.tagsInCode.map((tag) => placed({ ...tag, sure: false })),
    paths: reading.paths,
    open: reading.open || broken,
    broken,
    positionAt,
  };
}

/** Makes a function that finds the position of an offset in the text of a state, negative before it. */
function createBodyLookup({ text, state, origin }: StateSource): StateAnalysis['positionAt'] {
  const lookUp = createPositionLookup(text);
  const begin = text.length - state.text.length;
  if (origin === undefined) return (offset) => lookUp(begin + offset);
  const lookUpInBody = createPositionLookup(state.text);
  return (offset) => {
    if (offset >= 0) return positionInBody(origin, lookUpInBody(offset));
    const { line, column } = lookUp(begin + offset);
    return { line: origin.at.line + line - 1, column: line === 1 ? origin.at.column + column - 1 : column };
  };
}

/** Makes a function that finds the line and column of an offset; the lines are counted at the first call. */
function createPositionLookup(text: string): (offset: number) => TextPosition {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
