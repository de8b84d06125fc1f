import { defineRule } from '../rule.ts';

/** A state's file is not UTF-8 text, or cannot be read. */
export const notText = defineRule({ id: 'not-text', level: 'error', blocksStart: 'always' }, ({ workflow }) =>
  workflow.files.flatMap((file) => {
    if (file.kind !== 'unreadable') return [];
    const { file: name, at, message } = file;
    return [
      {
        file: name,
        at,
        message,
        hint: 'Save it as UTF-8 text that Raymond can read, or move it out of the workflow if it is not a state.',
      },
    ];
  }),
);
