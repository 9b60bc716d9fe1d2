// A session's transcript in one text, put together from the pages the server
// renders, with a map from lines to events. Pure.

import type { Header, RenderTranscriptResponse, RenderedLine } from '../contract';

export interface Rendering {
  readonly session: Header;
  readonly markdown: string;
  readonly lines: readonly RenderedLine[];
  /** The first event shown; above 0 when a transcript was too long to show it whole. */
  readonly fromSeq: number;
  /** Where the transcript goes on beyond what is shown. */
  readonly nextSeq: number | null;
  /** The page to begin with when the session has grown. */
  readonly tail: { readonly fromSeq: number; readonly textLength: number; readonly lineCount: number; readonly mapLength: number };
}

/** Asks for one page from that event on. */
export type Render = (fromSeq: number) => Promise<RenderTranscriptResponse>;

/** So much text, in UTF-16 units, is shown of one session. An editor does not like more. */
export const longestText = 16_000_000;

/** Renders from an event to the end, or until the text is too long. */
export async function renderFrom(render: Render, fromSeq: number, longest = longestText): Promise<Rendering> {
  return extend(render, undefined, fromSeq, longest);
}

/** Renders the last page again, and what has come after it. */
export async function renderGrowth(render: Render, before: Rendering, longest = longestText): Promise<Rendering> {
  return extend(render, before, before.tail.fromSeq, longest);
}

async function extend(render: Render, before: Rendering | undefined, start: number, longest: number): Promise<Rendering> {
  let from = start;
  let text = before === undefined ? '' : before.markdown.slice(0, before.tail.textLength);
  let lineCount = before?.tail.lineCount ?? 0;
  const lines = before === undefined ? [] : before.lines.slice(0, before.tail.mapLength);
  for (;;) {
    const tail = { fromSeq: from, textLength: text.length, lineCount, mapLength: lines.length };
    const page = await render(from);
    const markdown = page.markdown === '' || page.markdown.endsWith('\n') ? page.markdown : `${page.markdown}\n`;
    for (const l of page.lines) lines.push({ line: l.line + lineCount, endLine: l.endLine + lineCount, seq: l.seq });
    text += markdown;
    lineCount += count(markdown);
    const over = page.nextSeq === null || page.nextSeq <= from || text.length >= longest;
    if (over) {
      return { session: page.session, markdown: text, lines, fromSeq: before?.fromSeq ?? start, nextSeq: page.nextSeq, tail };
    }
    from = page.nextSeq;
  }
}

function count(text: string): number {
  let n = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) n++;
  return n;
}

/** The lines of an event, or of the last one before it that is shown; undefined if there is none. */
export function linesOf(rendering: Rendering, seq: number): RenderedLine | undefined {
  let best: RenderedLine | undefined;
  for (const l of rendering.lines) {
    if (l.seq === seq) return l;
    if (l.seq < seq && (best === undefined || l.seq > best.seq)) best = l;
  }
  return best;
}

/** The event that a line belongs to. */
export function eventAt(rendering: Rendering, line: number): number | undefined {
  return rendering.lines.findLast((l) => l.line <= line)?.seq;
}
