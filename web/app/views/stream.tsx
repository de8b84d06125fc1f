import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { EventDocument } from '../../../src/documents/types.ts';
import { describeEntry, describeEvent, formatClock, isError } from '../format.ts';
import { Choice } from '../parts.tsx';
import type { RunModel, StreamItem } from '../run-model.ts';
import { VirtualList } from '../virtual-list.tsx';

const FILTERS = ['everything', 'what agents say', 'transitions', 'problems'] as const;
type Filter = (typeof FILTERS)[number];

const PROBLEMS: ReadonlySet<string> = new Set([
  'warning',
  'reminded',
  'sleeping',
  'session_lost',
  'answer_withheld',
  'visit_limit',
  'agent_paused',
  'agent_failed',
]);

/** Everything that happens in a run, as it happens: its events, and what agents say and do. */
export function Stream({ model, base }: { model: RunModel; base: string }) {
  const version = model.version.value;
  const filter = useSignal<Filter>('everything');
  const search = useSignal('');
  const chosen = filter.value;
  const text = search.value.toLowerCase();
  const items = useMemo(
    () =>
      chosen === 'everything' && text === '' ? model.stream : model.stream.filter((item) => fits(item, chosen, text)),
    [model, version, chosen, text],
  );
  return (
    <>
      <div class="bar">
        <Choice label="What to show" names={FILTERS} chosen={chosen} choose={(name) => (filter.value = name)} />
        <input
          type="search"
          placeholder="Search agents and text"
          aria-label="Search agents and text"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
      </div>
      {items.length === 0 && <p class="note">Nothing here yet.</p>}
      {items.length > 0 && (
        <VirtualList
          key={`${chosen} ${text}`}
          items={items}
          rowHeight={28}
          label="Events"
          followEnd
          keyOf={({ key }) => key}
          row={(item) => <StreamRow item={item} base={base} />}
        />
      )}
    </>
  );
}

function fits({ agent, content }: StreamItem, filter: Filter, text: string): boolean {
  if (text !== '' && !`${agent} ${describe(content)}`.toLowerCase().includes(text)) return false;
  if (filter === 'everything') return true;
  if ('entry' in content) return filter === 'what agents say';
  const { kind } = content.event;
  if (filter === 'transitions') return kind === 'transition';
  if (filter === 'what agents say') return kind === 'printed';
  return PROBLEMS.has(kind) || (kind === 'turn_ended' && hasProblem(content.event));
}

const hasProblem = (event: EventDocument): boolean =>
  ('failure' in event && event.failure !== null) || ('denials' in event && event.denials.length > 0);

const describe = (content: StreamItem['content']): string =>
  'entry' in content ? describeEntry(content.entry) : describeEvent(content.event);

function StreamRow({ item: { at, agent, turn, content }, base }: { item: StreamItem; base: string }) {
  const kind = 'entry' in content ? `entry-${content.entry.kind}` : `event-${content.event.kind}`;
  const isBad = 'entry' in content ? isError(content.entry) : hasProblem(content.event);
  const cells = (
    <>
      <time dateTime={at}>{formatClock(at)}</time>
      <span class="event-agent">{agent}</span>
      <span class="event-text">{describe(content)}</span>
    </>
  );
  const classes = `row event-row ${kind} ${isBad ? 'is-bad' : ''}`;
  if (turn === null) return <div class={classes}>{cells}</div>;
  return (
    <a class={classes} href={`${base}/turns/${encodeURIComponent(agent)}/${turn}`}>
      {cells}
    </a>
  );
}
