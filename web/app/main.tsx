import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { place } from './router.ts';
import { Costs } from './views/costs.tsx';
import { Fleet } from './views/fleet.tsx';
import { Run } from './views/run.tsx';
import { Workflows } from './views/workflows.tsx';

const PAGES: readonly (readonly [path: string, name: string])[] = [
  ['/', 'Runs'],
  ['/workflows', 'Workflows'],
  ['/costs', 'Costs'],
];

/** The name of the view for tabs and screen readers. */
function titleOf(path: string): string {
  const [, page, , id = '', , agent = '', turn = ''] = path.split('/').map(decodeURIComponent);
  const name = PAGES.find(([href]) => href === `/${page === 'runs' ? '' : page}`)?.[1] ?? 'Runs';
  return [agent && `${agent} ${turn}`, page === 'runs' ? id : '', name, 'Raymond'].filter(Boolean).join(' · ');
}

function App() {
  const path = place.value;
  useEffect(() => {
    document.title = titleOf(path);
  }, [path]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <nav aria-label="Pages">
        <a class="brand" href="/">
          Raymond
        </a>
        {PAGES.map(([href, name]) => (
          <a key={href} href={href} aria-current={path === href ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        <View path={path} />
      </main>
    </>
  );
}

function View({ path }: { path: string }) {
  const [, page, project = '', id = '', turns, agent, number] = path.split('/').map(decodeURIComponent);
  if (page === 'runs' && id !== '') {
    const turn = turns === 'turns' && agent !== undefined && number !== undefined ? { agent, number } : null;
    return <Run project={project} run={id} turn={turn} />;
  }
  if (page === 'workflows') return <Workflows chosen={id === '' ? null : `${project}/${id}`} />;
  if (page === 'costs') return <Costs />;
  return <Fleet />;
}

render(<App />, document.body);
