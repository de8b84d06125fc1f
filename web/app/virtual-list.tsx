import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Browsers draw nothing further down than some ten million pixels: of a longer list, the latest rows are shown. */
const MAX_HEIGHT = 8_000_000;

/** A list of rows of one height, of which only those that are in sight exist: 100,000 are as quick as 100. */
export function VirtualList<T>(props: {
  items: readonly T[];
  rowHeight: number;
  label: string;
  /** True to stay at the end while rows are added, if the end is in sight. */
  followEnd?: boolean;
  keyOf: (item: T) => string | number;
  row: (item: T) => ComponentChildren;
}) {
  const { rowHeight, label, followEnd = false, keyOf, row } = props;
  const maxItems = Math.floor(MAX_HEIGHT / rowHeight);
  const items = props.items.length > maxItems ? props.items.slice(-maxItems) : props.items;
  const box = useRef<HTMLUListElement>(null);
  const isAtEnd = useRef(true);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (followEnd && isAtEnd.current && element !== null) element.scrollTop = element.scrollHeight;
  }, [items.length, followEnd]);
  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight;
    setTop(element.scrollTop);
  };
  const first = Math.min(Math.max(0, Math.floor(top / rowHeight) - 10), Math.max(0, items.length - 1));
  const shown = items.slice(first, first + Math.ceil(height / rowHeight) + 20);
  return (
    // It scrolls, so the keyboard must be able to get into it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <ul class="virtual" ref={box} onScroll={onScroll} tabIndex={0} aria-label={label}>
      <Spacer height={first * rowHeight} />
      {shown.map((item, index) => (
        <li key={keyOf(item)} aria-setsize={items.length} aria-posinset={first + index + 1}>
          {row(item)}
        </li>
      ))}
      <Spacer height={Math.max(0, (items.length - first - shown.length) * rowHeight)} />
    </ul>
  );
}

/** Set through the object model: the page permits no styles in its markup. */
function Spacer({ height }: { height: number }) {
  const element = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    if (element.current !== null) element.current.style.height = `${height}px`;
  }, [height]);
  return <li ref={element} aria-hidden="true" />;
}
