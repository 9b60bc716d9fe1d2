// Where words stand in a document. Pure.

/** A span [start, end) of UTF-16 offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** More than that would only slow the editor down. */
const most = 5000;

/** Every place of the words, in order and without overlaps; longer words first where two begin together. */
export function findWords(text: string, words: readonly string[]): Span[] {
  const wanted = [...new Set(words.filter((w) => w.trim() !== ''))].sort((a, b) => b.length - a.length);
  if (wanted.length === 0) return [];
  // White space in a snippet is one space, in the document it may be a line break.
  const pattern = wanted.map((w) => w.split(/\s+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('\\s+')).join('|');
  const spans: Span[] = [];
  for (const match of text.matchAll(new RegExp(pattern, 'giu'))) {
    if (match[0] === '') continue;
    spans.push({ start: match.index, end: match.index + match[0].length });
    if (spans.length === most) break;
  }
  return spans;
}

/** The index of the first span at or after an offset; from the start again if there is none. */
export function nextSpan(spans: readonly Span[], offset: number): number {
  const i = spans.findIndex((s) => s.start >= offset);
  return i < 0 ? 0 : i;
}

/** The index of the last span before an offset; from the end if there is none. */
export function previousSpan(spans: readonly Span[], offset: number): number {
  const i = spans.findLastIndex((s) => s.end < offset);
  return i < 0 ? spans.length - 1 : i;
}
