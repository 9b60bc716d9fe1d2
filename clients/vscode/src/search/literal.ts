// An event found by its literal text, as a hit with a snippet. Pure.

import type { EventHit, EventRecord } from '../contract';
import { findWords } from '../transcript/matches';

/** Text before and after the match, in UTF-16 units. */
const around = 80;

export function literalHit(event: EventRecord & { readonly text: string }, query: string): EventHit {
  const { text } = event;
  const span = findWords(text, [query])[0] ?? { start: 0, end: 0 };
  const from = Math.max(0, span.start - around);
  const before = text.slice(from, span.start);
  const match = text.slice(span.start, span.end);
  const after = text.slice(span.end, span.end + around);
  if (match === '') return { ...event, snippet: text.slice(0, 2 * around), marks: [] };
  const start = before.length + 2;
  return { ...event, snippet: `${before}[[${match}]]${after}`, marks: [[start, start + match.length]] };
}
