import { useSignal } from '@preact/signals';
import type { ApiQuestionsDocument } from '../../src/documents/types.ts';
import { get, read, runPath } from './api.ts';
import { formatAge } from './format.ts';
import { Failure } from './parts.tsx';
import { usePolled } from './poll.ts';
import { Markdown } from './text.tsx';

type WaitingQuestion = ApiQuestionsDocument['questions'][number];

/** The questions that wait, of all runs or of one, each with a form to answer it. Nothing if there are none. */
export function Questions({ project, run, answered }: { project?: string; run?: string; answered?: () => void }) {
  const query = new URLSearchParams({ ...(project !== undefined && { project }), ...(run !== undefined && { run }) });
  const path = `/questions?${query}`;
  const { data, error, refresh } = usePolled((signal) => get<ApiQuestionsDocument>(path, signal), 2_000, path);
  const questions = data.value?.questions ?? [];
  if (questions.length === 0) return <Failure error={error.value} />;
  const done = (): void => {
    refresh();
    answered?.();
  };
  return (
    <section class="questions" aria-label="Questions for you">
      <h2>{questions.length === 1 ? 'A question for you' : `${questions.length} questions for you`}</h2>
      {questions.slice(0, MAX_SHOWN).map((each) => (
        <Question
          key={`${each.project}/${each.run_id}/${each.ask_id}`}
          question={each}
          showsRun={run === undefined}
          done={done}
        />
      ))}
      {questions.length > MAX_SHOWN && (
        <p class="note">{questions.length - MAX_SHOWN} more will be here when these are answered.</p>
      )}
    </section>
  );
}

const MAX_SHOWN = 20;

function Question(props: { question: WaitingQuestion; showsRun: boolean; done: () => void }) {
  const { question, showsRun, done } = props;
  const text = useSignal('');
  const files = useSignal<Readonly<Record<string, readonly File[]>>>({});
  const isBusy = useSignal(false);
  const error = useSignal<Error | null>(null);
  const place = `${runPath(question.project, question.run_id)}/questions/${encodeURIComponent(question.ask_id)}`;
  const { uploads, choices } = question;
  const chosen = useSignal<readonly string[]>([]);
  const takesText = choices === null || choices.other;
  const typed = (): string => [...chosen.value, text.value].filter((each) => each !== '').join('\n');
  const answer = async (words: string): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = null;
    try {
      const form = new FormData();
      form.set('text', words);
      for (const [name, chosen] of Object.entries(files.value))
        for (const file of chosen) form.append('file', file, name === BUCKET ? file.name : name);
      await read(await fetch(`/api${place}/answer`, { method: 'POST', body: form }));
      done();
    } catch (cause) {
      error.value = cause instanceof Error ? cause : new Error(String(cause));
    } finally {
      isBusy.value = false;
    }
  };
  const choose = (name: string, list: FileList | null): void => {
    files.value = { ...files.value, [name]: [...(list ?? [])] };
  };
  const id = `answer-${question.run_id}-${question.ask_id}`;
  const isOver = question.timeout_at !== null && Date.parse(question.timeout_at) <= Date.now();
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        void answer(typed());
      }}
    >
      <p class="note">
        {showsRun && <a href={`/runs/${question.project}/${question.run_id}`}>{question.run_name}</a>} {question.label}{' '}
        in {question.state}, {formatAge(question.asked_at, Date.now())}
        {question.timeout_at !== null &&
          (isOver
            ? `; its time was over at ${formatDeadline(question.timeout_at)}: resume the run, which continues in ${question.timeout_next}`
            : `; until ${formatDeadline(question.timeout_at)}, then ${question.timeout_next}`)}
      </p>
      <Markdown text={question.question} />
      {question.display_files.length > 0 && (
        <ul class="files">
          {question.display_files.map(({ path, label }, at) => (
            <li key={path}>
              <a href={`/api${place}/files/${at}`} target="_blank" rel="noreferrer">
                {label ?? path}
              </a>
              {/\.(?:png|jpe?g|gif|webp)$/i.test(path) && <img src={`/api${place}/files/${at}`} alt={label ?? path} />}
            </li>
          ))}
        </ul>
      )}
      {choices !== null && (
        <fieldset class="choices" aria-label="Choices">
          {choices.labels.map((label) =>
            choices.many ? (
              <label key={label}>
                <input
                  type="checkbox"
                  onChange={(event) => {
                    const rest = chosen.value.filter((each) => each !== label);
                    chosen.value = event.currentTarget.checked ? [...rest, label] : rest;
                  }}
                />
                {label}
              </label>
            ) : (
              <button key={label} type="button" disabled={isBusy.value || isOver} onClick={() => void answer(label)}>
                {label}
              </button>
            ),
          )}
        </fieldset>
      )}
      {takesText && <label for={id}>{choices === null ? 'Your answer' : 'Another answer'}</label>}
      {takesText && (
        <textarea
          id={id}
          rows={2}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      )}
      {uploads?.slots.map(({ name, mime }) => (
        <label key={name}>
          {name}
          <input
            type="file"
            required
            {...(mime !== null && { accept: mime.replaceAll('|', ',') })}
            onChange={(event) => choose(name, event.currentTarget.files)}
          />
        </label>
      ))}
      {uploads?.bucket === true && (
        <label>
          Files
          <input
            type="file"
            multiple
            accept={uploads.mime.join(',')}
            onChange={(event) => choose(BUCKET, event.currentTarget.files)}
          />
        </label>
      )}
      {(takesText || choices.many) && (
        <div class="bar">
          <button type="submit" class="main" disabled={isBusy.value || isOver}>
            Answer
          </button>
          {takesText && <small class="note">Ctrl-Enter sends, too.</small>}
        </div>
      )}
      <Failure error={error.value} />
    </form>
  );
}

const formatDeadline = (time: string): string => new Date(time).toLocaleString();

/** No file can have this name. */
const BUCKET = '/';
