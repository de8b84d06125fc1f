import { useSignal } from '@preact/signals';
import type { ApiRunsDocument, ListedRunDocument } from '../../../src/documents/types.ts';
import { get } from '../api.ts';
import { formatAge, formatTokens, formatUsd } from '../format.ts';
import { Choice, Failure, Status } from '../parts.tsx';
import { usePolled } from '../poll.ts';
import { Questions } from '../questions.tsx';
import { VirtualList } from '../virtual-list.tsx';

const FILTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  all: {},
  running: { status: 'running,stopping,elsewhere' },
  // A failed run has ended; it has a filter of its own.
  'needs you': {
    needs_you: 'true',
    status: 'running,stopping,elsewhere,waiting,paused,crashed,budget_exceeded,iteration_limit',
  },
  failed: { status: 'failed,unreadable' },
  completed: { status: 'completed' },
};

/** All runs of all projects: those that need a person first. */
export function Fleet() {
  const filter = useSignal('all');
  const search = useSignal('');
  const query = new URLSearchParams({ limit: '1000', ...FILTERS[filter.value] });
  if (search.value !== '') query.set('q', search.value);
  const path = `/runs?${query}`;
  const { data, error } = usePolled((signal) => get<ApiRunsDocument>(path, signal), 2_000, path);
  const runs = data.value?.runs ?? [];
  const now = Date.now();
  return (
    <>
      <h1>Runs</h1>
      <Questions />
      <Failure error={error.value} />
      <div class="bar">
        <Choice
          label="Which runs"
          names={Object.keys(FILTERS)}
          chosen={filter.value}
          choose={(name) => (filter.value = name)}
        />
        <input
          type="search"
          placeholder="Search by id or name"
          aria-label="Search by id or name"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <a class="button main" href="/workflows">
          Start a run
        </a>
      </div>
      {data.value === null && error.value === null && <p class="note">Loading…</p>}
      {data.value !== null && runs.length === 0 && (
        <NoRuns isFiltered={filter.value !== 'all' || search.value !== ''} />
      )}
      {runs.length > 0 && (
        <VirtualList
          items={runs}
          rowHeight={64}
          label="Runs"
          keyOf={(run) => `${run.project}/${run.run_id}`}
          row={(run) => <Row run={run} now={now} />}
        />
      )}
      {data.value !== null && data.value.total > runs.length && (
        <p class="note">{data.value.total - runs.length} more: search for them.</p>
      )}
    </>
  );
}

function Row({ run, now }: { run: ListedRunDocument; now: number }) {
  const readable = 'error' in run ? null : run;
  const counts = readable?.agent_counts;
  const problem = 'error' in run ? run.error : run.damage[0];
  return (
    <a class={`row run-row ${run.needs_you ? 'needs-you' : ''}`} href={`/runs/${run.project}/${run.run_id}`}>
      <span class="run-name">
        <strong>{readable?.name ?? run.run_id}</strong>
        <small class={problem === undefined ? '' : 'problem'}>{problem ?? run.run_id}</small>
      </span>
      <Status value={run.status} />
      <span class="wide">
        {counts && `${counts.live} live, ${counts.ended} ended${counts.failed > 0 ? `, ${counts.failed} failed` : ''}`}
      </span>
      <span class="number">{readable && formatUsd(readable.cost_usd)}</span>
      <span class="number wide">{formatTokens(readable?.tokens)}</span>
      <span class="number wide">{readable && formatAge(readable.started_at, now)}</span>
    </a>
  );
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p class="note">No run fits.</p>;
  return (
    <section class="welcome">
      <h2>There are no runs yet</h2>
      <p>
        A workflow is a folder of prompts and scripts. <a href="/workflows">Start one of those found here</a>, or create
        a first one in a terminal:
      </p>
      <pre>raymond init workflows/first{'\n'}raymond workflows/first</pre>
      <p>To see it at work without an account and without cost:</p>
      <pre>raymond demo</pre>
    </section>
  );
}
