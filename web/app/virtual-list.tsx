import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A list of rows of one height, of which only those that are in sight exist: 100,000 are as quick as 100. */
export function VirtualList<T>(props: {
  items: readonly T[];
  rowHeight: number;
  label: string;
  /** Whether to stay at the end while rows are added, if the end is in sight. */
  followEnd?: boolean;
  row: (item: T, index: number) => ComponentChildren;
}) {
  const { items, rowHeight, label, followEnd = false, row } = props;
  const box = useRef<HTMLDivElement>(null);
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
  const first = Math.max(0, Math.floor(top / rowHeight) - 10);
  const shown = items.slice(first, first + Math.ceil(height / rowHeight) + 20);
  return (
    // It scrolls, so the keyboard must be able to get into it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div class="virtual" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-label={label} aria-live="off">
      <Spacer height={first * rowHeight} />
      {shown.map((item, index) => row(item, first + index))}
      <Spacer height={Math.max(0, (items.length - first - shown.length) * rowHeight)} />
    </div>
  );
}

/** Set through the object model: the page permits no styles in its markup. */
function Spacer({ height }: { height: number }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (element.current !== null) element.current.style.height = `${height}px`;
  }, [height]);
  return <div ref={element} aria-hidden="true" />;
}
