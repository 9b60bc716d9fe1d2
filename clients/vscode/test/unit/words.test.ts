import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileQuery, oneQuery, plainWords } from '../../src/search/query';
import { choicesInWords, eventRow, hitRow, matchedWords, type Surroundings, titleWords, unmarked } from '../../src/search/rows';
import { literalHit } from '../../src/search/literal';
import type { SearchState } from '../../src/search/model';
import { shellOf } from '../../src/session/shell';
import { percent, statusLine, statusPage } from '../../src/status/text';
import { age, bytes, label, oneLine, project, type Translate } from '../../src/words';
import { hit, status } from './samples';

const t: Translate = (message, ...args) => message.replace(/\{(\d+)\}/g, (_, n: string) => String(args[Number(n)]));
const at: Surroundings = { t, now: Date.parse('2026-11-01T14:00:00Z'), locale: 'en', agentLabel: (a) => (a === 'claude' ? 'Claude Code' : a), hostName: (h) => h.replace('ssh:', '') };

describe('words', () => {
  it('tells ages in the words of the locale', () => {
    const now = Date.parse('2026-11-01T14:00:00Z');
    for (const [time, en] of [
      ['2026-11-01T13:59:50.000Z', 'now'],
      ['2026-11-01T12:00:00.000Z', '2h ago'],
      ['2026-10-25T12:00:00.000Z', '1w ago'],
      ['2024-10-01T12:00:00.000Z', '2y ago'],
    ] as const) {
      assert.equal(age(time, now, 'en'), en);
    }
    assert.equal(age('2026-11-01T13:59:50.000Z', now, 'de'), 'jetzt');
    assert.match(age('2026-11-01T12:00:00.000Z', now, 'de'), /^vor 2/);
    assert.equal(age(null, now, 'en'), '');
    assert.equal(age('what?', now, 'en'), '');
    assert.equal(age('2026-11-02T14:00:00Z', now, 'en'), 'now', 'a clock that is ahead');
  });

  it('names the project by its folder, in any spelling', () => {
    assert.deepEqual(['/home/dev/work/tidewatch/', 'c:\\Users\\dev\\tide watch', '/', null].map(project), ['tidewatch', 'tide watch', '', '']);
  });

  it('lets no text of a transcript disturb a list', () => {
    assert.equal(oneLine('a\u0000b\n\tc\u202ed \u2028e'), 'a b cd e');
    assert.equal(label('run $(rm) now'), 'run $\u200b(rm) now');
    assert.equal(oneLine('\u{1F30A}'.repeat(5), 3), '\u{1F30A}\u{1F30A}…');
    assert.equal(oneLine('x'.repeat(1_000_000)).length, 300);
  });

  it('writes sizes', () => {
    assert.deepEqual([0, 999, 1500, 2_000_000, 3_200_000_000].map(bytes), ['0 B', '999 B', '1.5 kB', '2.0 MB', '3.2 GB']);
  });

  it('knows the quoting of shells', () => {
    assert.deepEqual(['/bin/bash', '/usr/bin/fish', 'C:\\Windows\\System32\\cmd.exe', 'C:\\x\\pwsh.exe', 'powershell.exe', ''].map(shellOf), [
      'posix', 'fish', 'cmd', 'powershell', 'powershell', 'posix',
    ]);
  });
});

describe('queries', () => {
  it('makes a text of a selection, not operators', () => {
    assert.equal(oneQuery('  path:/x\n  not:y  a::b https://z '), 'path: /x not: y a::b https://z');
    assert.equal(oneQuery('\u{1F30A}'.repeat(600)), '\u{1F30A}'.repeat(512));
  });

  it('quotes the path of a file', () => {
    assert.equal(fileQuery('src\\my "file".ts'), 'file:"src/my file.ts"');
  });

  it('finds the plain words of a query', () => {
    assert.equal(plainWords('tide agent:pi file:"a b.go" not:x "high water"'), 'tide high water');
    assert.equal(plainWords('tide a:b https://x'), undefined);
    assert.equal(plainWords('agent:pi'), undefined);
  });
});

describe('rows', () => {
  const evidence = { snippet: 'the [[tide]] of [[[[brackets]]]] and [[ours]]', marks: [[6, 10], [18, 30]] as const, role: 'assistant', timestamp: null, seq: 4, type: 'message', surface: 'current' } as const;

  it('shows title, agent, project, branch, age and the snippet', () => {
    assert.deepEqual(hitRow(hit('a', { evidence: { ...evidence, snippet: 'high [[tide]] now', marks: [[7, 11]] }, matchCount: 3, relation: 'fork' }), at), {
      label: '$(repo-forked) Session a',
      description: 'Claude Code · tidewatch · main · 2h ago · fork · 3 matches',
      detail: '$(hubot) high tide now',
    });
  });

  it('says how long a session is when the title matched or nothing was asked', () => {
    assert.equal(hitRow(hit('a'), at).detail, '4 messages');
    assert.equal(hitRow(hit('a', { messageCount: 1, evidence: { ...evidence, type: 'session/title' } }), at).detail, '1 message');
  });

  it('shows the host of a session that lies elsewhere', () => {
    assert.equal(hitRow(hit('a', { executionHostId: 'ssh:box' }), at).description, '$(remote) box · Claude Code · tidewatch · main · 2h ago');
    assert.equal(hitRow(hit('a', { executionHostId: 'local' }), at).description, 'Claude Code · tidewatch · main · 2h ago');
  });

  it('takes only the brackets that are marks', () => {
    assert.equal(unmarked('a [[b]] c [[d]]', [[4, 5]]), 'a b c [[d]]');
    assert.equal(unmarked('no marks [[x]]', []), 'no marks [[x]]');
    assert.deepEqual(matchedWords({ snippet: 'a [[b]] [[bcd]] [[b]]', marks: [[4, 5], [10, 13], [18, 19]] }), ['bcd', 'b']);
  });

  it('shows events of a session', () => {
    const found = literalHit({ agent: 'pi', sessionId: 's', seq: 7, type: 'message', role: 'user', time: null, surface: 'current', text: 'At high\n tide we sail' }, 'high tide');
    assert.equal(found.snippet, 'At [[high\n tide]] we sail');
    assert.deepEqual(eventRow(found, at), { label: '$(account) At high tide we sail', description: '#7', detail: '' });
  });

  it('keeps the title short', () => {
    const state: SearchState = {
      query: '', answered: '', choices: { host: 'local', scopePaths: [], scope: 'all', sort: 'relevance', agents: [] }, hits: [], hasMore: false, busy: false,
      total: { sessions: 3, exact: true }, truncated: undefined, diagnostics: [], durationMs: 1, problem: undefined,
    };
    assert.equal(titleWords(state, at), 'Agent Sessions — 3 sessions');
    const chosen = { ...state, total: { sessions: 1, exact: true }, choices: { host: 'local', scopePaths: ['/w'], scope: 'conversation', sort: 'newest', agents: ['claude'] } } as const;
    assert.equal(titleWords(chosen, at), 'Sessions of this workspace · conversation only · newest first · Claude Code — 1 session');
    assert.equal(titleWords({ ...state, total: { sessions: 90, exact: false } }, at), 'Agent Sessions — 90 sessions or more');
    const elsewhere = { ...state, choices: { ...state.choices, host: 'ssh:box' } };
    assert.equal(titleWords(elsewhere, at), 'Sessions on box — 3 sessions');
    assert.equal(titleWords({ ...elsewhere, choices: { ...elsewhere.choices, scopePaths: ['/w'] } }, at), 'Sessions in the paths of this workspace on box — 3 sessions');
    assert.equal(choicesInWords(elsewhere, at), 'box · everywhere · conversation and tool output · all agents');
  });
});

describe('status', () => {
  it('has a line for every state', () => {
    const text = (state: Parameters<typeof statusLine>[0], s: Parameters<typeof statusLine>[1]): string => statusLine(state, s, t).text;
    assert.equal(text('failed', undefined), '$(error) Sessions');
    assert.equal(text('waiting', undefined), '$(sync~spin) Sessions');
    assert.equal(text('starting', undefined), '$(loading~spin) Sessions');
    assert.equal(text('running', status({ decided: false, enabled: false, phase: 'idle' })), '$(comment-discussion) Sessions: off');
    assert.equal(text('running', status({ enabled: false, phase: 'idle' })), '$(circle-slash) Sessions: off');
    assert.equal(text('running', status()), '$(comment-discussion) 3 sessions');
    assert.equal(text('running', status({ phase: 'degraded' })), '$(warning) 3 sessions');
    const progress = { bytesDone: 999, bytesTotal: 1000, filesDone: 1, filesTotal: 2 };
    assert.equal(text('running', status({ phase: 'indexing', progress })), '$(sync~spin) Indexing sessions 99 %');
    assert.equal(percent(status({ phase: 'indexing' })), undefined);
    const elsewhere = statusLine('running', status(), t, 'box');
    assert.equal(elsewhere.text, '$(comment-discussion) 3 sessions');
    assert.match(elsewhere.tooltip, /\nSearched is box, not this machine\.$/);
    assert.match(elsewhere.spoken, /Searched is box/);
  });

  it('has a page, in which no name is markup', () => {
    const page = statusPage(
      {
        state: 'running', historyDays: 30, version: '1.2', now: 60_000, locale: 'en',
        status: status({ agents: [{ agent: 'x', label: 'X | <b>Y</b>', roots: ['/home/dev/.x'], sessions: 1, events: 2, failed: 0 }], degradedRoots: [{ root: '/mnt', reason: 'gone' }] }),
      },
      t,
    );
    assert.match(page, /\| Sessions \| 3 \|/);
    assert.match(page, /\| History \| 30 days \|/);
    assert.match(page, /\| X \\\| \\<b\\>Y\\<\/b\\> \| 1 \| 2 \| 0 \| \/home\/dev\/.x \|/);
    assert.match(page, /- \/mnt: gone/);
    assert.doesNotMatch(page, /Searched host/);
    const elsewhere = statusPage({ state: 'running', historyDays: null, version: '1', now: 0, locale: 'en', status: status(), elsewhere: { name: 'a|b', state: { kind: 'enabled', status: status({ sessions: 1 }) } } }, t);
    assert.match(elsewhere, /\| Searched host \| a\\\|b: 1 session, up to date \|/);
  });
});
