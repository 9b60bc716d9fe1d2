import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SearchSessionsRequest, SearchSessionsResponse } from '../../src/contract';
import { SearchModel, type SearchState } from '../../src/search/model';
import { hit, results } from './samples';

interface Asked {
  readonly request: SearchSessionsRequest;
  readonly signal: AbortSignal;
  answer(response: SearchSessionsResponse): void;
  refuse(error: unknown): void;
}

/** A model over a server that answers when the test says so. */
function search(passing = false, delay = 0): { model: SearchModel; asked: Asked[]; states: SearchState[] } {
  const asked: Asked[] = [];
  const states: SearchState[] = [];
  const model = new SearchModel(
    {
      ask: (request, signal) => new Promise((answer, refuse) => asked.push({ request, signal, answer, refuse })),
      changed: (state) => states.push(state),
      isPassing: () => passing,
      delay,
      pageSize: 2,
      freshness: 'indexed',
    },
    { host: 'local', scopePaths: [], scope: 'all', sort: 'relevance', agents: [] },
  );
  return { model, asked, states };
}

/** Lets what was answered arrive. */
const arrive = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('search model', () => {
  it('cancels the earlier request and ignores its late answer', async () => {
    const { model, asked } = search();
    model.type('ti');
    model.type('tide');
    assert.deepEqual(asked.map((a) => a.request.query), ['ti', 'tide']);
    assert.equal(asked[0]!.signal.aborted, true);
    asked[1]!.answer(results([hit('b')]));
    asked[0]!.answer(results([hit('a')]));
    await arrive();
    assert.deepEqual(model.state.hits.map((h) => h.sessionId), ['b']);
    assert.equal(model.state.answered, 'tide');
    assert.equal(model.state.busy, false);
  });

  it('keeps the old rows while an answer is on its way', async () => {
    const { model, asked, states } = search();
    model.type('tide');
    asked[0]!.answer(results([hit('a')]));
    await arrive();
    model.type('tides');
    assert.equal(model.state.busy, true);
    assert.deepEqual(model.state.hits.map((h) => h.sessionId), ['a']);
    assert.ok(states.every((s) => s.hits.length > 0 || s.answered === undefined), 'the list was empty in between');
  });

  it('says which query the rows answer when more was typed meanwhile', async () => {
    const { model, asked } = search(false, 60_000);
    model.type('r');
    model.type('rounded');
    asked[0]!.answer(results([hit('a')]));
    await arrive();
    assert.equal(model.state.answered, 'r');
    assert.equal(model.state.busy, true);
    model.dispose();
  });

  it('adds pages, each session once', async () => {
    const { model, asked } = search();
    model.type('tide');
    asked[0]!.answer(results([hit('a'), hit('b')], 'c1'));
    await arrive();
    const more = model.more();
    assert.equal(asked[1]!.request.cursor, 'c1');
    asked[1]!.answer(results([hit('b'), hit('c')]));
    await more;
    assert.deepEqual(model.state.hits.map((h) => h.sessionId), ['a', 'b', 'c']);
    await model.more();
    assert.equal(asked.length, 2, 'there was no further page');
  });

  for (const kind of ['stale-cursor', 'malformed-cursor'] as const) {
    it(`begins anew, silently, after ${kind}`, async () => {
      const { model, asked, states } = search();
      model.type('tide');
      asked[0]!.answer(results([hit('a'), hit('b')], 'c1'));
      await arrive();
      const more = model.more();
      asked[1]!.answer({ kind });
      await arrive();
      assert.equal(asked[2]!.request.cursor, undefined);
      asked[2]!.answer(results([hit('b')]));
      await more;
      assert.deepEqual(model.state.hits.map((h) => h.sessionId), ['b']);
      assert.ok(states.every((s) => s.problem === undefined));
    });
  }

  it('asks for the newest sessions when nothing was typed', () => {
    const { model, asked } = search();
    void model.again();
    assert.deepEqual(asked[0]!.request.filters, { sort: 'relevance', presence: ['present', 'unverifiable', 'missing'] });
  });

  it('sends the choices', () => {
    const { model, asked } = search();
    model.choose({ scopePaths: ['/w'], scope: 'conversation', sort: 'newest', agents: ['pi'] });
    model.type('x');
    assert.deepEqual(asked.at(-1)!.request, {
      query: 'x', scope: 'conversation', freshness: 'indexed', limit: 2, filters: { sort: 'newest', scopePaths: ['/w'], agents: ['pi'] },
    });
  });

  it('asks the chosen host, and shows nothing of the one before', async () => {
    const { model, asked, states } = search();
    model.type('x');
    assert.ok(!('executionHost' in asked[0]!.request), 'this machine is not named');
    asked[0]!.answer(results([hit('a'), hit('b')], 'c1'));
    await arrive();
    states.length = 0;
    model.choose({ host: 'ssh:box' });
    assert.equal(asked[1]!.request.executionHost, 'ssh:box');
    assert.ok(states.every((s) => s.hits.length === 0 && s.answered === undefined && s.busy));
    await model.more();
    assert.equal(asked.length, 2, 'a cursor of the host before went to this one');
    asked[1]!.answer(results([hit('c')]));
    await arrive();
    model.choose({ sort: 'newest' });
    assert.deepEqual(model.state.hits.map((h) => h.sessionId), ['c'], 'the rows stay for another order');
    assert.equal(asked[2]!.request.executionHost, 'ssh:box');
  });

  it('shows why there is no search', async () => {
    const { model, asked } = search();
    model.type('x');
    asked[0]!.answer({ kind: 'unavailable', reason: 'disabled' });
    await arrive();
    assert.deepEqual(model.state.problem, { kind: 'unavailable', reason: 'disabled' });
    model.type('xy');
    asked[1]!.refuse(new Error('disk full'));
    await arrive();
    assert.deepEqual(model.state.problem, { kind: 'error', message: 'disk full' });
  });

  it('stays busy over an error that passes, and is asked again', async () => {
    const { model, asked } = search(true);
    model.type('x');
    asked[0]!.refuse(new Error('the server is gone'));
    await arrive();
    assert.equal(model.state.problem, undefined);
    assert.equal(model.state.busy, true);
    void model.again();
    asked[1]!.answer(results([hit('a')]));
    await arrive();
    assert.equal(model.state.hits.length, 1);
  });

  it('cancels when it is closed', () => {
    const { model, asked } = search();
    model.type('x');
    model.dispose();
    assert.equal(asked[0]!.signal.aborted, true);
  });
});
