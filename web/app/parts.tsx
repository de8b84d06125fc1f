import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from './api.ts';
import { formatStatus } from './format.ts';

/** A status with its color. */
export function Status({ value }: { value: string }) {
  return <span class={`status status-${value}`}>{formatStatus(value)}</span>;
}

/** An error and its remedy. */
export function Failure({ error }: { error: Error | null }) {
  if (error === null) return null;
  return (
    <div class="failure" role="alert">
      <strong>{error.message}</strong>
      {error instanceof ApiError && error.hint !== undefined && <p>{error.hint}</p>}
    </div>
  );
}

/** A button that does something on the server, and says if that failed. */
export function Action(props: {
  children: ComponentChildren;
  act: () => Promise<unknown>;
  kind?: 'danger' | 'main';
  /** True if Enter in a field of its form does it, too. */
  submits?: boolean;
  /** A question to ask before. */
  confirm?: string;
}) {
  const { children, act, kind, submits = false, confirm: question } = props;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const run = async (): Promise<void> => {
    if (question !== undefined && !confirm(question)) return;
    setBusy(true);
    setError(null);
    try {
      await act();
    } catch (cause) {
      setError(cause instanceof Error ? cause : new Error(String(cause)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <span class="action">
      <button type={submits ? 'submit' : 'button'} class={kind ?? ''} disabled={isBusy} onClick={run}>
        {children}
      </button>
      <Failure error={error} />
    </span>
  );
}

/** A drawing that may be larger than the window. */
export function Picture({ alt, ...rest }: { src: string; alt: string; onError?: () => void }) {
  return (
    // It scrolls, so the keyboard must be able to get into it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class="picture" tabIndex={0} aria-label="Graph">
      <img alt={alt} {...rest} />
    </section>
  );
}

/** Buttons of which one is chosen. */
export function Choice<T extends string>(props: {
  label: string;
  names: readonly T[];
  chosen: T;
  choose: (name: T) => void;
}) {
  const { label, names, chosen, choose } = props;
  return (
    <fieldset class="tabs" aria-label={label}>
      {names.map((name) => (
        <button key={name} type="button" aria-pressed={chosen === name} onClick={() => choose(name)}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}
