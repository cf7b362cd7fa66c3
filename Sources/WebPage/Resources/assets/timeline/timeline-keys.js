// The keys of a timeline that has the focus.

/** Does what a key is for, where it is for something. */
export function keyOfTimeline(timeline, event) {
  const { layout, list, active, isForKids } = timeline;
  if (!layout || list.total === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  const last = list.total - 1;
  const rows = Math.max(1, Math.floor(timeline.clientHeight / layout.rowHeight) - 1);
  const vertical = (step, times = 1) => {
    let position = active;
    for (let count = 0; count < times; count += 1) position = layout.vertical(position, step);
    return position;
  };
  const moves = {
    ArrowLeft: () => active - 1, ArrowRight: () => active + 1, ArrowUp: () => vertical(-1), ArrowDown: () => vertical(1),
    PageUp: () => vertical(-1, rows), PageDown: () => vertical(1, rows), Home: () => 0, End: () => last,
  };
  const tile = event.target.closest('.tile');
  if (event.key === '+' || event.key === '-') {
    timeline.tileSize += event.key === '+' ? 1 : -1;
  } else if (event.key === ' ' && tile && !isForKids) {
    timeline.toggle(tile);
  } else if ((event.key === 'd' || event.key === 'm') && tile && !isForKids) {
    const { entry, first, count } = layout.place(tile.position).block;
    if (event.key === 'd') timeline.selectAllOf(first, count);
    else timeline.selectAllOf(entry.position, entry.count);
  } else if (moves[event.key]) {
    const { selection } = timeline;
    timeline.focusPosition(Math.min(last, Math.max(0, moves[event.key]())));
    if (event.shiftKey && !isForKids) {
      selection.anchor ??= active;
      timeline.selectTo(timeline.active);
    }
  } else {
    return;
  }
  event.preventDefault();
}
