import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Data that is asked for again and again while the page is in sight. */
export interface Polled<T> {
  readonly data: Signal<T | null>;
  readonly error: Signal<Error | null>;
  readonly refresh: () => void;
}

/** Loads data now and every few milliseconds; while the page is hidden, it rests. */
export function usePolled<T>(load: (signal: AbortSignal) => Promise<T>, everyMs: number, key: string): Polled<T> {
  const data = useSignal<T | null>(null);
  const error = useSignal<Error | null>(null);
  const wake = useSignal(() => {});
  useEffect(() => {
    const ended = new AbortController();
    let timer = 0;
    data.value = null;
    const run = async (): Promise<void> => {
      clearTimeout(timer);
      try {
        data.value = await load(ended.signal);
        error.value = null;
      } catch (cause) {
        if (ended.signal.aborted) return;
        error.value = cause instanceof Error ? cause : new Error(String(cause));
      }
      if (!ended.signal.aborted && everyMs > 0)
        timer = window.setTimeout(() => (document.hidden ? rest() : run()), everyMs);
    };
    const rest = (): void => document.addEventListener('visibilitychange', run, { once: true });
    wake.value = () => void run();
    void run();
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', run);
    };
  }, [key]);
  return { data, error, refresh: () => wake.value() };
}
