import type { Rule } from '../rule.ts';
import { ambiguousEntry } from './ambiguous-entry.ts';
import { ambiguousState } from './ambiguous-state.ts';
import { badAttribute } from './bad-attribute.ts';
import { bashSyntax } from './bash-syntax.ts';
import { byteOrderMark } from './byte-order-mark.ts';
import { crlfScript } from './crlf-script.ts';
import { emptyLoop } from './empty-loop.ts';
import { emptyPrompt } from './empty-prompt.ts';
import { endlessLoop } from './endless-loop.ts';
import { endlessRecursion } from './endless-recursion.ts';
import { endsOnlyByLimit } from './ends-only-by-limit.ts';
import { forbiddenTag } from './forbidden-tag.ts';
import { foreignState } from './foreign-state.ts';
import { forkBomb } from './fork-bomb.ts';
import { frontmatter } from './frontmatter.ts';
import { ignoredAttribute } from './ignored-attribute.ts';
import { implicitTransition } from './implicit-transition.ts';
import { impossibleReturn } from './impossible-return.ts';
import { keyWithoutEffect } from './key-without-effect.ts';
import { literalVariable } from './literal-variable.ts';
import { misplacedAttribute } from './misplaced-attribute.ts';
import { missingAttribute } from './missing-attribute.ts';
import { missingEntry } from './missing-entry.ts';
import { missingState } from './missing-state.ts';
import { neverReturns } from './never-returns.ts';
import { noShebang } from './no-shebang.ts';
import { noWayOut } from './no-way-out.ts';
import { notText } from './not-text.ts';
import { otherShebang } from './other-shebang.ts';
import { pathInName } from './path-in-name.ts';
import { severalTags } from './several-tags.ts';
import { silentPath } from './silent-path.ts';
import { unclosedTag } from './unclosed-tag.ts';
import { undefinedResult } from './undefined-result.ts';
import { undefinedVariable } from './undefined-variable.ts';
import { unknownEffort } from './unknown-effort.ts';
import { unknownMode } from './unknown-mode.ts';
import { unknownModel } from './unknown-model.ts';
import { unknownRule } from './unknown-rule.ts';
import { unknownTag } from './unknown-tag.ts';
import { unknownTool } from './unknown-tool.ts';
import { unmentionedEntry } from './unmentioned-entry.ts';
import { unquotedTag } from './unquoted-tag.ts';
import { unreachableState } from './unreachable-state.ts';
import { wastedTag } from './wasted-tag.ts';

/**
 * All rules of lint; their order has no meaning. To add one, write a file beside this one, a row here and a section of
 * docs/lint.md.
 */
const TABLE = [
  ambiguousEntry,
  ambiguousState,
  badAttribute,
  bashSyntax,
  byteOrderMark,
  crlfScript,
  emptyLoop,
  emptyPrompt,
  endlessLoop,
  endlessRecursion,
  endsOnlyByLimit,
  forbiddenTag,
  foreignState,
  forkBomb,
  frontmatter,
  ignoredAttribute,
  implicitTransition,
  impossibleReturn,
  keyWithoutEffect,
  literalVariable,
  misplacedAttribute,
  missingAttribute,
  missingEntry,
  missingState,
  neverReturns,
  noShebang,
  noWayOut,
  notText,
  otherShebang,
  pathInName,
  severalTags,
  silentPath,
  unclosedTag,
  undefinedResult,
  undefinedVariable,
  unknownEffort,
  unknownMode,
  unknownModel,
  unknownRule,
  unknownTag,
  unknownTool,
  unmentionedEntry,
  unquotedTag,
  unreachableState,
  wastedTag,
] as const;

/** The name of a rule, as findings and `lint: allow` comments have it. */
export type RuleId = (typeof TABLE)[number]['id'];

/** The same rules, each superseding only rules that exist. */
export const RULES: readonly Rule<RuleId>[] = TABLE;
