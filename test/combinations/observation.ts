/**
 * Something that was seen of a run: an event as it is in the journal. The start of a turn also has the prompt that was sent (`text`),
 * and model and effort that tags asked for (`preference`); a join has the content of its file of results (`results`).
 */
export interface Observation {
  readonly kind: string;
  readonly at: number;
  readonly agent?: string;
  readonly [field: string]: unknown;
}
