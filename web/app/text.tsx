import { AnsiUp } from 'ansi_up';
import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import type { PartialTextDocument } from '../../src/documents/types.ts';

/** Agents write untrusted text: everything that would run, load or navigate by itself is removed. */
const PURIFY = {
  ALLOWED_TAGS:
    'p br hr h1 h2 h3 h4 h5 h6 strong em del code pre blockquote ul ol li table thead tbody tr th td a span'.split(' '),
  ALLOWED_ATTR: ['href', 'class'],
  ALLOWED_URI_REGEXP: /^https?:/i,
};

/** HTML in a text, such as the tags of the language, is shown as it is written. */
const parser = new Marked({
  gfm: true,
  renderer: { html: ({ text }) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;') },
});

/** Text of an agent as Markdown. */
export function Markdown({ text }: { text: string }) {
  const html = DOMPurify.sanitize(parser.parse(text, { async: false }), PURIFY);
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}

/** Output of a script, with its colors. */
export function Output({ text }: { text: string }) {
  const ansi = new AnsiUp();
  ansi.use_classes = true;
  return (
    <pre class="output" dangerouslySetInnerHTML={{ __html: DOMPurify.sanitize(ansi.ansi_to_html(text), PURIFY) }} />
  );
}

/** A text that may be shortened, and a word about that. */
export function Cut({
  value,
  as: Show = Output,
}: {
  value: PartialTextDocument;
  as?: (props: { text: string }) => unknown;
}) {
  return (
    <>
      {Show({ text: value.text }) as never}
      {value.is_cut && <p class="note">There is more of it on disk.</p>}
    </>
  );
}
