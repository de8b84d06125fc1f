import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { AgentStatusDocument, AgentWorktreeDocument, ApiRunDocument } from '../../../src/documents/types.ts';
import { send } from '../api.ts';
import { describeEntry, formatAge, formatDuration, formatQuota, formatTokens, formatUsd } from '../format.ts';
import { Action, Choice, Failure, Picture, Status } from '../parts.tsx';
import { Questions } from '../questions.tsx';
import { go } from '../router.ts';
import { RunModel } from '../run-model.ts';
import { Talk } from '../talk.tsx';
import { Markdown } from '../text.tsx';
import { VirtualList } from '../virtual-list.tsx';
import { Stream } from './stream.tsx';
import { Turn } from './turn.tsx';
import { Waterfall } from './waterfall.tsx';

const VIEWS = ['agents', 'turns', 'stream', 'graph'] as const;

/** One run: where it stands, what needs a person, its agents, turns, events and graph. */
export function Run({
  project,
  run,
  turn,
}: {
  project: string;
  run: string;
  turn: { agent: string; number: string } | null;
}) {
  const model = useMemo(() => new RunModel(project, run), [project, run]);
  useEffect(() => () => model.close(), [model]);
  const view = useSignal<(typeof VIEWS)[number]>('agents');
  const detail = model.detail.value;
  const base = `/runs/${project}/${run}`;
  if (turn !== null) return <Turn agent={turn.agent} turn={turn.number} back={base} model={model} />;
  return (
    <>
      {model.connection.value !== 'open' && (
        <p class="needs" role="status">
          {model.connection.value === 'lost'
            ? 'The server does not answer; trying again…'
            : 'The server has ended the stream. Load the page again to continue.'}
        </p>
      )}
      {detail === null ? (
        <>
          <h1>{run}</h1>
          {model.error.value === null && <p class="note">Loading…</p>}
        </>
      ) : (
        <Head detail={detail} model={model} />
      )}
      <Failure error={model.error.value} />
      {detail !== null && (
        <>
          <Questions project={project} run={run} answered={() => model.refresh()} />
          <Choice label="View" names={VIEWS} chosen={view.value} choose={(name) => (view.value = name)} />
          {view.value === 'agents' && <Agents detail={detail} model={model} base={base} />}
          {view.value === 'turns' && <Waterfall model={model} base={base} />}
          {view.value === 'stream' && <Stream model={model} base={base} />}
          {view.value === 'graph' && <Graph path={model.path} seq={detail.seq} name={detail.workflow} />}
        </>
      )}
    </>
  );
}

/** Shows what a run waits for, except answers: questions have forms of their own. */
function withoutQuestions({ waits_for, questions: [first] }: ApiRunDocument): string {
  const at = first === undefined ? -1 : waits_for.indexOf(`[${first.label}] asks (${first.ask_id}`);
  return (at === -1 ? waits_for : waits_for.slice(0, at)).trim();
}

const LIVE = ['running', 'stopping', 'elsewhere'];

function Head({ detail, model }: { detail: ApiRunDocument; model: RunModel }) {
  const budget = useSignal('');
  const isLive = LIVE.includes(detail.status);
  const act =
    (what: string, body: object = {}) =>
    async () => {
      await send('POST', `${model.path}/${what}`, body);
      model.refresh();
    };
  const canGoOn = !isLive && detail.status !== 'completed';
  const raised = budget.value === '' ? {} : { budget_usd: Number(budget.value) };
  const isSpent = detail.status === 'budget_exceeded';
  const waitsFor = withoutQuestions(detail);
  const hasFailures = detail.agents.some(({ status }) => status === 'failed' || status === 'paused');
  return (
    <header class="run-head">
      <h1>
        {detail.name} <Status value={detail.status} />
      </h1>
      <p class="facts">
        <span>{detail.run_id}</span>
        <span>started {formatAge(detail.started_at, Date.now())}</span>
        <span>{formatDuration(detail.worked_ms)} of work</span>
        <span>
          {formatUsd(detail.cost_usd)}
          {detail.budget_usd !== null && ` of ${formatUsd(detail.budget_usd)}`}
          {detail.canned_usd > 0 && ` (${formatUsd(detail.canned_usd)} canned)`}
          {detail.estimated_usd > 0 && ` (${formatUsd(detail.estimated_usd)} estimated)`}
        </span>
        {formatTokens(detail.tokens) !== '' && <span>{formatTokens(detail.tokens)} tokens</span>}
        {formatQuota(detail.quota) !== '' && <span>{formatQuota(detail.quota)}</span>}
      </p>
      {waitsFor !== '' && <p class={detail.needs_you ? 'needs' : 'note'}>{waitsFor}</p>}
      {(detail.damage ?? []).map((message) => (
        <p key={message} class="needs">
          {message}
        </p>
      ))}
      <form class="bar" onSubmit={(event) => event.preventDefault()}>
        {isLive && <Action act={act('stop')}>Stop after the running turns</Action>}
        {isLive && (
          <Action act={act('stop', { now: true })} kind="danger" confirm="End the running turns now?">
            Stop now
          </Action>
        )}
        {canGoOn && (
          <label class="inline">
            {isSpent ? 'Raise the budget to $' : 'Budget $'}
            <input
              type="number"
              min="0"
              step="0.01"
              placeholder={detail.budget_usd === null ? 'no limit' : String(detail.budget_usd)}
              value={budget.value}
              onInput={(event) => (budget.value = event.currentTarget.value)}
            />
          </label>
        )}
        {canGoOn && detail.status !== 'failed' && (
          <Action act={act('resume', raised)} kind="main" submits>
            Resume
          </Action>
        )}
        {canGoOn && hasFailures && (
          <Action act={act('retry', raised)} {...(detail.status === 'failed' && { kind: 'main', submits: true })}>
            Retry what failed
          </Action>
        )}
        {!isLive && (
          <Action
            kind="danger"
            confirm="Remove this run with all its files?"
            act={async () => {
              await send('DELETE', model.path);
              go('/');
            }}
          >
            Remove
          </Action>
        )}
      </form>
      {detail.warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {detail.warnings.map((warning) => (
            <li key={`${warning.kind}${warning.state}${warning.message}`}>
              <strong>{warning.state}</strong> {warning.message}{' '}
              {warning.count > 1 && <small>{warning.count} times</small>}
            </li>
          ))}
        </ul>
      )}
    </header>
  );
}

function Agents({ detail, model, base }: { detail: ApiRunDocument; model: RunModel; base: string }) {
  // Activities of agents arrive between two polls of the run.
  void model.version.value;
  const [first] = detail.agents;
  const hasWorktrees = detail.agents.some(({ worktree }) => worktree !== null);
  return (
    <>
      {first?.result != null && (
        <section class="result">
          <h2>Result</h2>
          <Markdown text={first.result} />
        </section>
      )}
      {detail.status !== 'completed' && <Talk agents={detail.agents} model={model} />}
      <VirtualList
        items={detail.agents}
        rowHeight={hasWorktrees ? 84 : 64}
        label="Agents"
        keyOf={({ id }) => id}
        row={(agent) => <AgentRow agent={agent} model={model} base={base} isTall={hasWorktrees} />}
      />
      {detail.archived_agents > 0 && (
        <p class="note">{detail.archived_agents} agents that ended long ago are only in the journal.</p>
      )}
    </>
  );
}

function AgentRow(props: { agent: AgentStatusDocument; model: RunModel; base: string; isTall: boolean }) {
  const { agent, model, base } = props;
  const kind = `row agent-row${props.isTall ? ' tall' : ''}`;
  const doing = agent.status === 'running' ? model.live.get(agent.id)?.entries.at(-1) : undefined;
  const words = agent.error ?? agent.result?.trim().split('\n', 1)[0] ?? (doing && describeEntry(doing)) ?? agent.state;
  const cells = (
    <>
      <span class="run-name">
        <strong>{agent.label}</strong>
        <small>{words}</small>
        {agent.worktree !== null && <WorktreeNote worktree={agent.worktree} />}
      </span>
      <Status value={agent.status} />
      <span class="wide">{agent.state}</span>
      <span class="number wide">{agent.turns === 1 ? '1 turn' : `${agent.turns} turns`}</span>
      <span class="number">{formatUsd(agent.cost_usd)}</span>
    </>
  );
  if (agent.turns === 0) return <div class={kind}>{cells}</div>;
  return (
    <a class={kind} href={`${base}/turns/${encodeURIComponent(agent.id)}/${agent.turns}`}>
      {cells}
    </a>
  );
}

/** The branch and the folder of a worktree, and what the agent has left in it. */
function WorktreeNote({
  worktree: { branch, path, kept, commits, dirty, discarded },
}: {
  worktree: AgentWorktreeDocument;
}) {
  const counted = commits === 1 ? '1 commit' : `${commits} commits`;
  const left =
    kept === null
      ? ''
      : kept
        ? ` (${counted}${dirty === true ? ', uncommitted changes' : ''})`
        : discarded
          ? ' (discarded)'
          : ' (removed: nothing new)';
  return (
    <small title={path}>
      worktree {branch}
      {left} in {path}
    </small>
  );
}

const REDRAW_MS = 2_000;

/** The picture is drawn anew when the run has moved on, but not more often than one can look. */
function Graph({ path, seq, name }: { path: string; seq: number; name: string }) {
  const drawn = useSignal(seq);
  const latest = useRef(seq);
  latest.current = seq;
  useEffect(() => {
    const timer = setInterval(() => {
      drawn.value = latest.current;
    }, REDRAW_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <Picture
      src={`/api${path}/graph?seq=${drawn.value}`}
      alt={`The states of ${name}, how often each was left, and where the agents are`}
    />
  );
}
