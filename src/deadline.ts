import { Worker } from 'node:worker_threads';
import { resolvePackageFile } from './package-files.ts';

/** A computation that `src/thread.ts` can do away from the main thread; its input and output are data. */
export interface Computation<Input, Output> {
  readonly name: ComputationName;
  /** How long it may take from the moment its thread begins it. */
  readonly deadlineMs: number;
  /** Only names the types. */
  readonly types?: (input: Input) => Output;
}

/** The names of all computations: `src/thread.ts` has one function for each. */
export type ComputationName = 'match_pattern' | 'check_result' | 'find_schema_problems' | 'draw';

/** The result of a computation, or the limit that it exceeded. */
export type Computed<Output> = { readonly value: Output } | { readonly exceeded: 'time' | 'memory' };

/** A request to the thread. */
export interface ThreadRequest {
  readonly name: ComputationName;
  readonly input: unknown;
}

/** A message of the thread: it has begun, or its result. */
export type ThreadMessage =
  | { readonly kind: 'began' }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly message: string };

/** Enough for any honest input; what needs more is ended like what needs too long. */
const MAX_HEAP_MB = 1_024;
const STACK_MB = 4;

/** More computations than this wait for their turn. */
const MAX_THREADS = 2;

/** A thread that has had nothing to do for so long is ended. */
const IDLE_MS = 10_000;

interface IdleThread {
  readonly worker: Worker;
  readonly retire: NodeJS.Timeout;
}

const idleThreads: IdleThread[] = [];
const waiting: (() => void)[] = [];
let busyThreads = 0;

/** Does a computation in a thread, which is ended at the deadline: whatever the input, the main thread stays free. */
export async function computeWithin<Input, Output>(
  { name, deadlineMs }: Computation<Input, Output>,
  input: Input,
): Promise<Computed<Output>> {
  if (busyThreads >= MAX_THREADS) await new Promise<void>((resolve) => waiting.push(resolve));
  else busyThreads += 1;
  try {
    return (await runInThread({ name, input }, deadlineMs)) as Computed<Output>;
  } finally {
    const next = waiting.shift();
    if (next === undefined) busyThreads -= 1;
    else next();
  }
}

function takeThread(): Worker {
  const idle = idleThreads.pop();
  if (idle === undefined) return startThread();
  clearTimeout(idle.retire);
  forgetListeners(idle.worker);
  idle.worker.ref();
  return idle.worker;
}

const startThread = (): Worker =>
  new Worker(resolvePackageFile('dist/thread.js'), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, stackSizeMb: STACK_MB },
  });

/** Only ours: a worker without those of Node.js itself is deaf. */
function forgetListeners(worker: Worker): void {
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
}

function keepThread(worker: Worker): void {
  forgetListeners(worker);
  const drop = (): void => {
    const at = idleThreads.findIndex((each) => each.worker === worker);
    if (at >= 0) idleThreads.splice(at, 1);
    void worker.terminate();
  };
  worker.on('error', drop);
  const retire = setTimeout(drop, IDLE_MS);
  retire.unref();
  worker.unref();
  idleThreads.push({ worker, retire });
}

function runInThread(request: ThreadRequest, deadlineMs: number): Promise<Computed<unknown>> {
  const worker = takeThread();
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      forgetListeners(worker);
      // An error of a thread that is being ended concerns nobody.
      worker.on('error', () => {});
      void worker.terminate();
      settle();
    };
    worker.on('message', (message: ThreadMessage) => {
      if (message.kind === 'began') timer = setTimeout(() => end(() => resolve({ exceeded: 'time' })), deadlineMs);
      else {
        clearTimeout(timer);
        keepThread(worker);
        if (message.kind === 'done') resolve({ value: message.value });
        else reject(new Error(message.message));
      }
    });
    worker.on('error', (error: Error & { readonly code?: string }) =>
      end(() => (error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ exceeded: 'memory' }) : reject(error))),
    );
    worker.on('exit', () => end(() => reject(new Error('the thread ended before its result'))));
    worker.postMessage(request);
  });
}
