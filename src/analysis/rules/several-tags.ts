import { rulePerPage } from '../rule.ts';

/** A script can print two tags that exclude each other. */
export const severalTags = rulePerPage('several-tags', 'warning', (page) =>
  (page.ways ?? []).flatMap((said) => {
    if (said.kind !== 'clash') return [];
    const first = page.place(said.first);
    const where = said.first === said.second ? 'beside forks' : `after the one on line ${first.line}`;
    const message = `the script can print this tag ${where}: an answer with two transitions is an error`;
    return [
      {
        file: page.file,
        at: page.place(said.second),
        message,
        hint: 'Put an `exit` after the first one, or an `else` between them.',
      },
    ];
  }),
);
