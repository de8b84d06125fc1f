import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ListedTurnDocument } from '../../../src/documents/types.ts';
import { formatDuration, formatStatus, formatUsd } from '../format.ts';
import type { Bar, Lane } from '../lanes.ts';
import type { RunModel } from '../run-model.ts';
import { VirtualList } from '../virtual-list.tsx';

type Row = { readonly lane: Lane; readonly bar: Bar | null };

/** With no more turns than this, all of them are shown at once. */
const MAX_OPEN_TURNS = 200;

/** The turns over time by agent. A bar is a turn, the thin line before it is waiting; a retry or a reminder is a bar of its own. */
export function Waterfall({ model, base }: { model: RunModel; base: string }) {
  void model.version.value;
  const now = useNow(model);
  const lanes = model.lanes.all;
  const areOpen = model.turns.length <= MAX_OPEN_TURNS;
  const toggled = useSignal<ReadonlySet<string>>(new Set());
  if (model.turns.length === 0) return <p class="note">No turn has begun yet.</p>;
  const startMs = lanes.reduce((least, { bars }) => Math.min(least, bars[0]?.readyMs ?? least), now);
  const lastMs = lanes.reduce((most, { bars }) => Math.max(most, bars.at(-1)?.endMs ?? now), startMs + 1);
  const endMs = model.detail.value?.status === 'running' ? roundUp(startMs, lastMs) : lastMs;
  const scale = (ms: number): number => ((ms - startMs) / (endMs - startMs)) * 1_000;
  const isOpen = (agent: string): boolean => toggled.value.has(agent) !== areOpen;
  const rows = lanes.flatMap((lane): Row[] => [
    { lane, bar: null },
    ...(isOpen(lane.agent) ? lane.bars.map((bar) => ({ lane, bar })) : []),
  ]);
  const toggle = (agent: string): void => {
    const next = new Set(toggled.value);
    if (!next.delete(agent)) next.add(agent);
    toggled.value = next;
  };
  return (
    <>
      <Legend />
      <VirtualList
        items={rows}
        rowHeight={36}
        label="Turns over time by agent"
        keyOf={({ lane, bar }) => `${lane.agent}/${bar?.turn.turn ?? ''}`}
        row={({ lane, bar }) =>
          bar === null ? (
            <LaneRow
              lane={lane}
              scale={scale}
              now={now}
              isOpen={isOpen(lane.agent)}
              toggle={() => toggle(lane.agent)}
            />
          ) : (
            <TurnRow bar={bar} scale={scale} now={now} base={base} />
          )
        }
      />
    </>
  );
}

/** The end of the scale while a run continues: it leaps ahead now and then, and in between, bars that do not change need not be drawn anew. */
function roundUp(startMs: number, endMs: number): number {
  const leapMs = 2 ** Math.ceil(Math.log2((endMs - startMs) / 50));
  return startMs + Math.ceil((endMs - startMs) / leapMs) * leapMs;
}

/** The time, which continues as long as a turn is running. */
function useNow(model: RunModel): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (model.detail.value?.status === 'running') now.value = Date.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, [model]);
  return Math.max(now.value, Date.parse(model.turns.at(-1)?.started_at ?? '') || 0);
}

type Outcome = 'done' | 'failed' | 'denied' | 'running';

function outcomeOf({ ended_at, failure, denials = [] }: ListedTurnDocument): Outcome {
  if (ended_at === null) return 'running';
  if (failure) return 'failed';
  return denials.length > 0 ? 'denied' : 'done';
}

const WORDS: Readonly<Record<Outcome, string>> = {
  done: 'done',
  failed: 'failed',
  denied: 'a tool was denied',
  running: 'running',
};

function Legend() {
  return (
    <p class="legend">
      {(Object.keys(WORDS) as Outcome[]).map((outcome) => (
        <span key={outcome}>
          <svg class={`turn-${outcome}`} viewBox="0 0 10 10" aria-hidden="true">
            <path d="M0 1H10V9H0Z" />
          </svg>
          {WORDS[outcome]}
        </span>
      ))}
      <span>
        <svg class="turn-wait" viewBox="0 0 10 10" aria-hidden="true">
          <path d="M0 4H10V6H0Z" />
        </svg>
        waiting
      </span>
    </p>
  );
}

interface Scaled {
  readonly scale: (ms: number) => number;
  readonly now: number;
}

/** All bars of a lane are a few paths, however many there are. */
function Bars({ bars, scale, now }: { bars: readonly Bar[] } & Scaled) {
  return (
    <svg class="turn-bars" viewBox="0 0 1002 20" preserveAspectRatio="none" aria-hidden="true">
      {Object.entries(pathsOf(bars, scale, now)).map(([kind, path]) => (
        <path key={kind} class={`turn-${kind}`} d={path} />
      ))}
    </svg>
  );
}

type Paths = Readonly<Partial<Record<Outcome | 'wait', string>>>;

/** The paths that were drawn last. As long as nothing happens, a list that is scrolled draws the same ones again and again. */
const drawn = new WeakMap<readonly Bar[], { readonly key: string; readonly paths: Paths }>();

function pathsOf(bars: readonly Bar[], scale: Scaled['scale'], now: number): Paths {
  const last = bars.at(-1);
  const key = `${scale(0)} ${scale(1e12)} ${bars[0]?.readyMs} ${bars.length} ${last && (last.endMs ?? now)}`;
  const known = drawn.get(bars);
  if (known?.key === key) return known.paths;
  const paths: Partial<Record<Outcome | 'wait', string>> = {};
  const add = (kind: Outcome | 'wait', path: string): void => {
    paths[kind] = (paths[kind] ?? '') + path;
  };
  for (const { turn, readyMs, startMs, endMs } of bars) {
    const [ready, start, end] = [readyMs, startMs, endMs ?? now].map((ms) => Math.round(scale(ms) * 100) / 100);
    if (startMs > readyMs) add('wait', `M${ready} 9H${start}V11H${ready}Z`);
    add(outcomeOf(turn), `M${start} 3H${Math.max(end ?? 0, (start ?? 0) + 1.5)}V17H${start}Z`);
  }
  drawn.set(bars, { key, paths });
  return paths;
}

function LaneRow(props: { lane: Lane; isOpen: boolean; toggle: () => void } & Scaled) {
  const { lane, isOpen, toggle, scale, now } = props;
  const { workMs, waitMs } = sum(lane.bars, now);
  const figures = `${formatDuration(workMs)} work, ${formatDuration(waitMs)} waiting`;
  return (
    <button type="button" class="row turn-row lane-row" aria-expanded={isOpen} onClick={toggle}>
      <span class="turn-name">
        {isOpen ? '▾' : '▸'} <strong>{lane.agent}</strong>
        <small> {lane.bars.length === 1 ? '1 turn' : `${lane.bars.length} turns`}</small>
      </span>
      <Bars bars={isOpen ? [] : lane.bars} scale={scale} now={now} />
      <small class="number">{figures}</small>
    </button>
  );
}

function sum(bars: readonly Bar[], now: number): { workMs: number; waitMs: number } {
  let [workMs, waitMs] = [0, 0];
  for (const { readyMs, startMs, endMs } of bars) {
    workMs += Math.max(0, (endMs ?? now) - startMs);
    waitMs += Math.max(0, startMs - readyMs);
  }
  return { workMs, waitMs };
}

/** Labels of turns that send something else than the prompt of their state. */
const PROMPTS: Readonly<Record<string, string>> = { reminder: 'reminder', continue: 'continues', compact: 'compacts' };

function TurnRow({ bar, scale, now, base }: { bar: Bar; base: string } & Scaled) {
  const { turn, readyMs, startMs, endMs } = bar;
  const waited = startMs - readyMs >= 1_000 ? `, waited ${formatDuration(startMs - readyMs)}` : '';
  const outcome = turn.failure ? `failed: ${formatStatus(turn.failure)}` : WORDS[outcomeOf(turn)];
  return (
    <a class="row turn-row" href={`${base}/turns/${encodeURIComponent(turn.agent)}/${turn.turn}`}>
      <span class="turn-name">
        {turn.turn}. {turn.state} {turn.prompt !== 'state' && <em>{PROMPTS[turn.prompt] ?? turn.prompt}</em>}
      </span>
      <Bars bars={[bar]} scale={scale} now={now} />
      <small class="number">
        {outcome} · {formatDuration((endMs ?? now) - startMs)}
        {turn.cost_usd ? ` · ${formatUsd(turn.cost_usd)}` : ''}
        <span class="wide">{waited}</span>
      </small>
    </a>
  );
}
