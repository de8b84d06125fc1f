import { HOST_RULE_FORMS, HOST_RULE_PATTERN, parseHostRule } from '../language/host-rules.ts';
import { reportWrongType, type ValueType } from './value-types.ts';

/** `true` for a sandbox; there is nothing else to say, because only the user switches one off. */
export const SANDBOX_VALUE: ValueType<true> = {
  schema: { type: ['boolean'], enum: [true, null] },
  read: (field, report) =>
    field.value.kind === 'boolean' && field.value.boolean
      ? true
      : reportWrongType(field, field.value, report, 'true: only --no-sandbox on the command line switches it off'),
};

/** Hosts that a workflow needs in a sandbox. */
export const HOST_LIST_VALUE: ValueType<readonly string[]> = {
  schema: { type: ['array'], items: { type: 'string', pattern: HOST_RULE_PATTERN } },
  read: (field, report) => {
    if (field.value.kind !== 'list') return reportWrongType(field, field.value, report, `a list of ${HOST_RULE_FORMS}`);
    return field.value.items.flatMap((item) => {
      if (item.kind === 'text' && parseHostRule(item.text) !== undefined) return [item.text];
      reportWrongType(field, item, report, `a list of ${HOST_RULE_FORMS}`);
      return [];
    });
  },
};
