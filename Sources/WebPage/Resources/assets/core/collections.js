/** Items by what `keyOf` says of them, in the order that they came: `Map.groupBy`, which older browsers do not have. */
export function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (groups.has(key)) groups.get(key).push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
