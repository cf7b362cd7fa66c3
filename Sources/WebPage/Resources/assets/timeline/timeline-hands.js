// Mouse and fingers on a timeline: a click, a range with Shift, drawing over tiles, whole days by their headings, and two
// fingers or the wheel with Ctrl for the size of the tiles.

const longPress = 450;
/** A click that comes so soon after tiles were drawn over is the end of that, and opens nothing. */
const afterDrawing = 500;
/** How near the upper or lower edge drawing goes on by itself, in CSS pixels, and how many a frame it scrolls at most. */
const edge = 56;
const fastest = 24;

/** Follows the pointer until the timeline leaves the page. */
export function followHands(timeline) {
  let drawing;
  let drawn = -Infinity;

  timeline.listen(timeline, 'click', (event) => {
    const heading = event.target.closest('.check-all');
    if (heading) {
      const { block, entry } = heading.closest('section');
      const { position, first = position, count } = heading.closest('.month') ? entry : block;
      timeline.selectAllOf(first, count);
      return;
    }
    const tile = event.target.closest('.tile');
    if (!tile) return;
    const { selection } = timeline;
    if (event.timeStamp - drawn < afterDrawing) {
      event.preventDefault();
    } else if (event.shiftKey && selection.anchor !== undefined) {
      event.preventDefault();
      timeline.selectTo(tile.position);
    } else if (event.target === tile.check || selection.size > 0 || event.shiftKey) {
      event.preventDefault();
      timeline.toggle(tile);
    }
  });

  // Drawing over tiles selects them: at once with a mouse, after a long press with a finger, which else scrolls.
  timeline.listen(timeline, 'pointerdown', (event) => {
    const tile = event.target.closest('.tile');
    drawing = undefined;
    if (!tile?.photo || event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey) return;
    const { selection } = timeline;
    drawing = { position: tile.position, pointer: event.pointerId, x: event.clientX, y: event.clientY, before: selection.photos };
    if (event.pointerType === 'mouse') {
      drawing.ready = true;
      return;
    }
    const begun = drawing;
    drawing.press = setTimeout(() => {
      begun.ready = begun.moved = true;
      selection.anchor = begun.position;
      if (!selection.has(tile.photo.id)) selection.toggle(tile.photo);
      navigator.vibrate?.(15);
    }, longPress);
  });

  const follow = () => {
    const tile = document.elementFromPoint(drawing.nowX, drawing.nowY)?.closest('.tile');
    if (!tile || !timeline.contains(tile) || tile.position === drawing.last) return;
    drawing.last = tile.position;
    timeline.selection.anchor = drawing.position;
    timeline.selectTo(tile.position, drawing.before);
  };

  const scroll = () => {
    const { top, bottom } = timeline.getBoundingClientRect();
    const beyond = drawing && (drawing.nowY < top + edge ? drawing.nowY - top - edge : Math.max(0, drawing.nowY - bottom + edge));
    if (!beyond) {
      if (drawing) drawing.scrolls = false;
      return;
    }
    timeline.scrollTop += Math.max(-1, Math.min(1, beyond / edge)) * fastest;
    follow();
    requestAnimationFrame(scroll);
  };

  timeline.listen(timeline, 'pointermove', (event) => {
    if (!drawing || event.pointerId !== drawing.pointer || event.buttons === 0) return;
    [drawing.nowX, drawing.nowY] = [event.clientX, event.clientY];
    if (Math.hypot(event.clientX - drawing.x, event.clientY - drawing.y) > 10) {
      clearTimeout(drawing.press);
      if (drawing.ready && !drawing.moved) {
        drawing.moved = true;
        // Also where the hand leaves the list: it is there that the list is to scroll.
        timeline.setPointerCapture(event.pointerId);
      }
    }
    if (!drawing.ready || !drawing.moved) return;
    follow();
    if (drawing.scrolls) return;
    drawing.scrolls = true;
    scroll();
  });
  const end = (event) => {
    clearTimeout(drawing?.press);
    if (drawing?.moved) drawn = event.timeStamp;
    drawing = undefined;
  };
  timeline.listen(timeline, 'pointerup', end);
  timeline.listen(timeline, 'pointercancel', end);
  timeline.listen(timeline, 'touchmove', (event) => drawing?.ready && event.cancelable && event.preventDefault(), { passive: false });
  timeline.listen(timeline, 'contextmenu', (event) => drawing?.ready && drawing.press && event.preventDefault());
  followPinch(timeline);
}

/** Two fingers, and the wheel with Ctrl, which is what a pinch on a touchpad is told as. */
export function followPinch(timeline) {
  const apart = ({ touches: [one, two] }) => Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
  let begun;
  timeline.listen(timeline, 'touchstart', (event) => (begun = event.touches.length === 2 ? apart(event) : undefined), { passive: true });
  timeline.listen(timeline, 'touchmove', (event) => {
    if (begun === undefined || event.touches.length !== 2) return;
    if (event.cancelable) event.preventDefault();
    const ratio = apart(event) / begun;
    if (ratio > 0.75 && ratio < 1.33) return;
    timeline.tileSize += ratio > 1 ? 1 : -1;
    begun = apart(event);
  }, { passive: false });
  let turned = 0;
  timeline.listen(timeline, 'wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    turned += event.deltaY;
    if (Math.abs(turned) < 30) return;
    timeline.tileSize += turned < 0 ? 1 : -1;
    turned = 0;
  }, { passive: false });
}
