import { Problem } from './problem.ts';

/** A file of a form. */
export interface FormFile {
  readonly name: string;
  readonly mime: string;
  readonly content: Uint8Array;
}

/** The largest form that is read, with all its files. */
const MAX_FORM_BYTES = 64 << 20;

/** True if a request sends a form with files. */
export const isForm = (request: Request): boolean =>
  /^multipart\/form-data\b/i.test(request.headers.get('content-type') ?? '');

/** Reads a form: its fields as texts, and its files. It is never larger in memory than the limit. */
export async function readForm(
  request: Request,
): Promise<{ readonly fields: Readonly<Record<string, string>>; readonly files: readonly FormFile[] }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_FORM_BYTES) throw new Problem(413, `The form is larger than ${MAX_FORM_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const type = request.headers.get('content-type') ?? '';
  const form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new Problem(400, 'The form cannot be read.');
  });
  const fields: Record<string, string> = {};
  const files: FormFile[] = [];
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else files.push({ name: value.name, mime: value.type, content: new Uint8Array(await value.arrayBuffer()) });
  }
  return { fields, files };
}
