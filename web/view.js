const SMALLEST = 0.02;
const LARGEST = 4;
/** From this scale on, the names of states can be made out. */
const READABLE = 0.55;
/** The smallest scale that is chosen for the reader: small text is eight pixels high there. */
const COMFORTABLE = 0.8;
/** The empty border of the picture. */
const MARGIN = 24;

/**
 * Lets a picture be moved and zoomed within its canvas: by wheel, dragging, pinching, and by the methods of the view.
 * `first` is the first state, or null. `onOverflow` gets arrows for the directions in which the picture continues beyond the canvas.
 */
export function createView(canvas, svg, first, onOverflow) {
  const whole = svg.viewBox.baseVal;
  const picture = { width: whole.width, height: whole.height };
  let x = 0;
  let y = 0;
  let scale = 1;

  const show = () => {
    const { clientWidth, clientHeight } = canvas;
    svg.setAttribute('viewBox', `${x} ${y} ${clientWidth / scale} ${clientHeight / scale}`);
    canvas.classList.toggle('far', scale < READABLE);
    canvas.classList.toggle('tiny', scale < READABLE / 3);
    onOverflow(
      [
        [x > MARGIN, '←'],
        [x + clientWidth / scale < picture.width - MARGIN, '→'],
        [y > MARGIN, '↑'],
        [y + clientHeight / scale < picture.height - MARGIN, '↓'],
      ].flatMap(([isMore, sign]) => (isMore ? [sign] : [])),
    );
  };
  const limit = (wanted) => Math.min(LARGEST, Math.max(SMALLEST, wanted));
  const view = {
    move(dx, dy) {
      x += dx / scale;
      y += dy / scale;
      show();
    },
    /** Zooms around the point of the canvas at px, py. */
    zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
      const next = limit(scale * factor);
      x += px / scale - px / next;
      y += py / scale - py / next;
      scale = next;
      show();
    },
    /**
     * Shows everything if it can be read then, else the whole width, else the part with the first state: what does not fit
     * is scrolled to.
     */
    fit() {
      const { clientWidth, clientHeight } = canvas;
      const [wide, high] = [clientWidth / picture.width, clientHeight / picture.height];
      const isWhole = Math.min(wide, high) >= COMFORTABLE;
      scale = isWhole ? Math.min(wide, high, 1.25) : Math.min(1, Math.max(wide, COMFORTABLE));
      const box = isWhole || first === null ? null : getBox(first, svg);
      const [left, top] = box === null ? [0, 0] : [box.x + box.width / 2 - clientWidth / scale / 2, box.y - 80 / scale];
      x = clampOrCenter(left, picture.width - clientWidth / scale);
      y = isWhole
        ? Math.min(0, (picture.height - clientHeight / scale) / 2)
        : clampOrCenter(top, picture.height - clientHeight / scale);
      show();
    },
    /** Moves an element to the middle, large enough to be read. */
    center(element) {
      scale = limit(Math.max(scale, READABLE * 1.6));
      const box = getBox(element, svg);
      x = box.x + box.width / 2 - canvas.clientWidth / scale / 2;
      y = box.y + box.height / 2 - canvas.clientHeight / scale / 2;
      show();
    },
    isWhollySeen(element) {
      const box = getBox(element, svg);
      const { clientWidth, clientHeight } = canvas;
      const [right, bottom] = [x + clientWidth / scale, y + clientHeight / scale];
      return (
        scale >= READABLE && box.x >= x && box.y >= y && box.x + box.width <= right && box.y + box.height <= bottom
      );
    },
    show,
  };
  listen(canvas, view);
  return view;
}

/** Keeps an offset between 0 and `last`; a negative `last` means that the picture is smaller than the canvas: it is centered. */
const clampOrCenter = (wanted, last) => (last < 0 ? last / 2 : Math.min(last, Math.max(0, wanted)));

/** The box of an element in the coordinates of the picture. */
function getBox(element, svg) {
  const { x, y, width, height } = element.getBBox();
  const toPicture = svg.getScreenCTM().inverse().multiply(element.getScreenCTM());
  const corner = new DOMPoint(x, y).matrixTransform(toPicture);
  return { x: corner.x, y: corner.y, width: width * toPicture.a, height: height * toPicture.d };
}

const CLICK = 4;

function listen(canvas, view) {
  const fingers = new Map();
  let moved = 0;
  const at = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const { x, y } = at(event);
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
      view.zoom(Math.exp((-event.deltaY * lines) / 500), x, y);
    },
    { passive: false },
  );
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    if (fingers.size === 0) moved = 0;
    fingers.set(event.pointerId, at(event));
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const now = at(event);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    // Only once it is a drag: a captured pointer makes no clicks.
    if (moved > CLICK && !canvas.hasPointerCapture(event.pointerId)) canvas.setPointerCapture(event.pointerId);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) view.zoom(distance(now, other) / distance(before, other), other.x, other.y);
    else if (moved > CLICK) view.move(before.x - now.x, before.y - now.y);
    fingers.set(event.pointerId, now);
  });
  for (const end of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  // A drag is no click.
  canvas.addEventListener('click', (event) => moved > CLICK && event.stopPropagation(), { capture: true });
}

const distance = (a, b) => Math.max(1, Math.hypot(a.x - b.x, a.y - b.y));
