import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RenderTranscriptResponse } from '../../src/contract';
import { candidates, pathMentions } from '../../src/transcript/links';
import { findWords, nextSpan, previousSpan } from '../../src/transcript/matches';
import { eventAt, linesOf, renderFrom, renderGrowth } from '../../src/transcript/rendering';
import { parseSessionUri, sessionUri } from '../../src/transcript/uri';
import { header } from './samples';

/** A server with a log of that many events, three to a page, an event two lines long. */
function server(log: { events: number; epoch?: number }) {
  const asked: number[] = [];
  const render = (fromSeq: number): Promise<RenderTranscriptResponse> => {
    asked.push(fromSeq);
    const to = Math.min(fromSeq + 3, log.events);
    let markdown = fromSeq === 0 ? '# Title\n' : '';
    let line = fromSeq === 0 ? 1 : 0;
    const lines = [];
    for (let seq = fromSeq; seq < to; seq++) {
      markdown += `event ${seq}\n\n`;
      lines.push({ line, endLine: line + 1, seq });
      line += 2;
    }
    return Promise.resolve({ session: header('a', { epoch: log.epoch ?? 1 }), markdown, lines, nextSeq: to < log.events ? to : null, truncated: false });
  };
  return { render, asked };
}

describe('rendering', () => {
  it('joins pages, and lines to events', async () => {
    const { render, asked } = server({ events: 8 });
    const r = await renderFrom(render, 0);
    assert.deepEqual(asked, [0, 3, 6]);
    const text = r.markdown.split('\n');
    for (let seq = 0; seq < 8; seq++) assert.equal(text[linesOf(r, seq)!.line], `event ${seq}`);
    assert.equal(eventAt(r, 0), undefined);
    assert.equal(eventAt(r, linesOf(r, 5)!.endLine), 5);
    assert.equal(linesOf(r, 99)!.seq, 7, 'the nearest one before');
  });

  it('reads only the last page again when a session has grown', async () => {
    const log = { events: 8 };
    const { render, asked } = server(log);
    const before = await renderFrom(render, 0);
    asked.length = 0;
    log.events = 11;
    const after = await renderGrowth(render, before);
    assert.deepEqual(asked, [6, 9]);
    assert.equal(after.markdown, (await renderFrom(render, 0)).markdown);
    assert.deepEqual(after.lines, (await renderFrom(render, 0)).lines);
    assert.equal(after.fromSeq, 0);
  });

  it('stops at a length and tells where', async () => {
    const { render } = server({ events: 100 });
    const r = await renderFrom(render, 30, 50);
    assert.equal(r.fromSeq, 30);
    assert.ok(r.nextSeq !== null && r.nextSeq > 30 && r.nextSeq < 100);
  });
});

describe('address', () => {
  it('holds any host, agent and id', () => {
    for (const address of [
      { host: 'local', agent: 'claude', sessionId: '3b0f7c52-9a41' },
      { host: 'ssh:dev@box', agent: 'codex', sessionId: 'a b/c#agent-1' },
      { host: 'local', agent: 'pi', sessionId: 'ünï(co)*de\'!.md' },
    ]) {
      const uri = sessionUri(address);
      assert.match(uri, /^sessionls:\/\/session\/[A-Za-z0-9._~%-]+\/[A-Za-z0-9._~%-]+\/[A-Za-z0-9._~%-]+$/);
      assert.deepEqual(parseSessionUri(uri), address);
      assert.deepEqual(parseSessionUri(`${uri}#42`), address);
    }
  });

  it('refuses what is none', () => {
    for (const uri of ['', 'file:///x.md', 'sessionls://session/local/claude', 'sessionls://other/local/claude/x.md', 'sessionls://session/local/claude/x', 'sessionls://session/local/claude/.md', 'sessionls://session/local/%ff/x.md']) {
      assert.equal(parseSessionUri(uri), undefined, uri);
    }
  });
});

describe('matches', () => {
  it('finds words in any case, over line breaks, longer ones first', () => {
    const text = 'Tide table.\nThe tide\n table of TIDES';
    const found = findWords(text, ['tide', 'tide table', '', ' ']).map((s) => text.slice(s.start, s.end));
    assert.deepEqual(found, ['Tide table', 'tide\n table', 'TIDE']);
  });

  it('takes words as text, not as patterns', () => {
    assert.equal(findWords('a.c abc', ['a.c']).length, 1);
    assert.equal(findWords('x (', ['(']).length, 1);
    assert.deepEqual(findWords('anything', []), []);
  });

  it('goes round', () => {
    const spans = [{ start: 2, end: 4 }, { start: 8, end: 9 }];
    assert.deepEqual([0, 2, 3, 9].map((o) => nextSpan(spans, o)), [0, 0, 1, 0]);
    assert.deepEqual([0, 5, 9, 20].map((o) => previousSpan(spans, o)), [1, 0, 0, 1]);
  });
});

describe('links', () => {
  it('sees paths with and without lines', () => {
    const found = pathMentions('see `src/gauge.ts:12:5`, ./a/b.go and C:\\x\\y.rs (not 1.2.3, https://x.y/z.html or e.g. this)').map((m) => [m.path, m.line, m.column]);
    assert.deepEqual(found.slice(0, 3), [['src/gauge.ts', 12, 5], ['./a/b.go', undefined, undefined], ['C:\\x\\y.rs', undefined, undefined]]);
    assert.ok(!found.some(([p]) => p === '1.2.3' || String(p).includes('x.y/z')));
  });

  it('takes no longer for a long word', () => {
    assert.deepEqual(pathMentions('a/'.repeat(100_000)), []);
  });

  it('offers only what lies in the workspace', () => {
    assert.deepEqual(candidates('src/gauge.ts', '/w/harbour', ['/w/harbour']), ['/w/harbour/src/gauge.ts']);
    assert.deepEqual(candidates('gauge.ts', '/w/harbour/src', ['/w/harbour']), ['/w/harbour/src/gauge.ts', '/w/harbour/gauge.ts']);
    assert.deepEqual(candidates('/w/harbour/x.ts', null, ['/w/harbour']), ['/w/harbour/x.ts']);
    for (const path of ['../../etc/passwd', '/etc/passwd', '~/x.ts', '/w/harbour/../other/x.ts', '/w/harbour2/x.ts']) {
      assert.deepEqual(candidates(path, '/w/harbour', ['/w/harbour']), [], path);
    }
  });
});
