// The rules of lint; their order has no meaning. To add one, write its file, a row here and a section of docs/lint.md.

export { badAttribute, ignoredAttribute, misplacedAttribute, missingAttribute, quoteInInput } from './attributes.ts';
export {
  emptyLoop,
  endlessLoop,
  endlessRecursion,
  endsOnlyByLimit,
  forkBomb,
  neverReturns,
  noWayOut,
} from './cycles.ts';
export { badEvaluator, byteOrderMark, emptyPrompt, frontmatter, notText, unknownRule } from './file-text.ts';
export { keyWithoutEffect } from './key-without-effect.ts';
export {
  ambiguousEntry,
  ambiguousState,
  foreignState,
  missingEntry,
  missingState,
  missingWorkflow,
  pathInName,
} from './names.ts';
export { forbiddenTag, unmentionedEntry } from './policies.ts';
export { missingField, nothingToJoin, undefinedResult } from './results.ts';
export { bashSyntax, crlfScript, noShebang, otherShebang, otherShell, silentPath, unquotedTag } from './scripts.ts';
export { implicitTransition, severalTags, wastedTag } from './several-tags.ts';
export { literalVariable, undefinedVariable } from './undefined-variable.ts';
export { unclosedTag, unknownTag } from './unknown-tag.ts';
export { unknownEffort, unknownMode, unknownModel, unknownTool } from './unknown-values.ts';
export { unreachableState } from './unreachable-state.ts';
