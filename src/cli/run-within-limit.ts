/**
 * Handles all items, several at the same time. One that calls `release` does not count any more, so that those that only wait
 * hold up no others. Once `isStopped` says so, no further item begins; the results are those of the items that have begun.
 */
export async function runWithinLimit<Item, Result>(
  items: readonly Item[],
  limit: number,
  handle: (item: Item, release: () => void) => Promise<Result>,
  isStopped: () => boolean,
): Promise<readonly Result[]> {
  const results: Promise<Result>[] = [];
  const waiting = [...items];
  let working = 0;
  const startMore = (): void => {
    while (working < limit && !isStopped()) {
      const item = waiting.shift();
      if (item === undefined) return;
      working += 1;
      const release = once(() => {
        working -= 1;
        startMore();
      });
      results.push(handle(item, release).finally(release));
    }
  };
  startMore();
  // Others are added while these end.
  for (let at = 0; at < results.length; at++) await results[at]?.catch(() => {});
  return Promise.all(results);
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
