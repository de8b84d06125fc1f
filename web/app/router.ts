import { signal } from '@preact/signals';

/** The address of the view that is shown. */
export const place = signal(location.pathname);

/** Shows another view. */
export function go(path: string): void {
  history.pushState(null, '', path);
  place.value = location.pathname;
  scrollTo(0, 0);
  document.querySelector<HTMLElement>('main')?.focus();
}

addEventListener('popstate', () => {
  place.value = location.pathname;
});

// Links of the page itself change the view; those with a modifier open another tab, as everywhere.
addEventListener('click', (event) => {
  const link = (event.target as Element).closest?.('a');
  if (link === null || link.origin !== location.origin || link.target || link.hasAttribute('download')) return;
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  if (link.pathname.startsWith('/api/')) return;
  event.preventDefault();
  go(link.pathname);
});
