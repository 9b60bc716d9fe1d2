import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Status } from '../../src/contract';
import { allHosts, enableCommand, isHost, parseHostList, typedHost } from '../../src/hosts/host';
import { AskingStopped, connected, HostStates, rest } from '../../src/hosts/states';
import { stateWords, wrapped } from '../../src/hosts/words';
import { status } from './samples';

describe('names of hosts', () => {
  it('are those of the contract', () => {
    for (const good of ['local', 'ssh:box', 'ssh:dev@box', 'ssh:dev@[::1]', 'ssh:a%b', 'runtime:box', 'runtime:Ünï/codé']) assert.ok(isHost(good), good);
    for (const bad of ['', 'all', 'Local', 'box', 'ssh:', 'ssh:-oProxyCommand=x', 'ssh:a b', 'ssh:a;b', 'ssh:$(x)', 'runtime:', 'runtime:a b', 'runtime:a\u0007', `ssh:${'x'.repeat(256)}`]) {
      assert.ok(!isHost(bad), bad);
    }
  });

  it('are typed with and without the kind', () => {
    assert.deepEqual(
      ['box', ' dev@box ', 'ssh:box', 'runtime:dev', 'local', 'ssh:local', '-oX', 'a b', 'ssh:-x', 'runtime:', ''].map(typedHost),
      ['ssh:box', 'ssh:dev@box', 'ssh:box', 'runtime:dev', undefined, 'ssh:local', undefined, undefined, undefined, undefined, undefined],
    );
  });

  it('come from the list of sessionls, and what is none is left out', () => {
    const { hosts: listed, warnings } = parseHostList(
      JSON.stringify({
        hosts: [
          { host: 'local', label: 'this machine', source: 'local' },
          { host: 'runtime:box', label: 'Dev container', source: 'config' },
          { host: 'ssh:harbour', label: ' ', source: 'ssh_config' },
          { host: 'ssh:-evil', label: 'x', source: 'ssh_config' },
          { label: 'x' },
        ],
        warnings: ['hosts.broken has no command; ignored', 7],
      }),
    );
    assert.deepEqual(listed.slice(1), [
      { host: 'runtime:box', label: 'Dev container', source: 'config' },
      { host: 'ssh:harbour', label: 'harbour', source: 'ssh_config' },
    ]);
    assert.deepEqual(warnings, ['hosts.broken has no command; ignored']);
    assert.deepEqual(parseHostList('{}'), { hosts: [], warnings: [] });
    assert.throws(() => parseHostList('no JSON'));

    const used = [{ host: 'ssh:old', label: 'old' }, { host: 'runtime:box', label: 'as it was called then' }];
    assert.deepEqual(allHosts(listed, used, { host: 'ssh:now', label: 'now' }).map((h) => `${h.host} ${h.label} ${h.source}`), [
      'local  local', 'runtime:box Dev container config', 'ssh:harbour harbour ssh_config', 'ssh:now now used', 'ssh:old old used',
    ]);
    assert.deepEqual(allHosts([], [], { host: 'local', label: '' }).map((h) => h.host), ['local']);
  });

  it('have a command that switches search on, where that can be known', () => {
    assert.equal(enableCommand('ssh:dev@box'), 'ssh dev@box sessionls enable');
    assert.equal(enableCommand('ssh:dev@[::1]'), "ssh 'dev@[::1]' sessionls enable");
    assert.equal(enableCommand('runtime:box'), undefined);
  });
});

/** Hosts that answer when the test says so. */
function hosts(): { states: HostStates; asked: { host: string; signal: AbortSignal; answer(s: Status): void; refuse(e: unknown): void }[]; clock: { now: number }; changes: string[] } {
  const asked: ReturnType<typeof hosts>['asked'] = [];
  const clock = { now: 0 };
  const changes: string[] = [];
  const states = new HostStates({
    ask: (host, signal) => new Promise((answer, refuse) => asked.push({ host, signal, answer, refuse })),
    changed: (host) => changes.push(host),
    isPassing: (error) => error instanceof RangeError,
    now: () => clock.now,
    stopped: (host) => `${host} was not waited for`,
  });
  return { states, asked, clock, changes };
}

const never = (): AbortSignal => new AbortController().signal;

describe('states of hosts', () => {
  it('asks once for all who wait', async () => {
    const { states, asked } = hosts();
    const a = states.reach('ssh:box', never());
    const b = states.ask('ssh:box', never());
    assert.equal(asked.length, 1);
    assert.deepEqual(states.state('ssh:box'), { kind: 'asking' });
    asked[0]!.answer(status({ sessions: 9 }));
    await a;
    assert.equal((await b).sessions, 9);
    assert.equal(states.status('ssh:box')?.sessions, 9);
    assert.equal(states.status('ssh:other'), undefined);
  });

  it('stops when nobody waits any longer, and not before', async () => {
    const { states, asked } = hosts();
    const [one, two] = [new AbortController(), new AbortController()];
    const a = states.reach('ssh:box', one.signal);
    const b = states.reach('ssh:box', two.signal);
    one.abort();
    await assert.rejects(a, AskingStopped);
    assert.equal(asked[0]!.signal.aborted, false);
    two.abort();
    await assert.rejects(b, AskingStopped);
    assert.equal(asked[0]!.signal.aborted, true);
    assert.equal(states.state('ssh:box'), undefined, 'nothing is known');
    await assert.rejects(states.reach('ssh:box', AbortSignal.abort()), AskingStopped);
  });

  it('stops for all when the user says so, and can be asked anew at once', async () => {
    const { states, asked } = hosts();
    const a = states.reach('ssh:box', never());
    states.stop('ssh:box');
    const b = states.reach('ssh:box', never());
    await assert.rejects(a, /ssh:box was not waited for/);
    assert.deepEqual(states.state('ssh:box'), { kind: 'asking' }, 'the end of the first is no end of the second');
    asked[1]!.answer(status());
    await b;
    asked[0]!.answer(status({ sessions: 1 }));
    assert.equal(states.status('ssh:box')?.sessions, 3);
  });

  it('is not asked again while the connection is kept', async () => {
    const { states, asked, clock } = hosts();
    const a = states.reach('ssh:box', never());
    asked[0]!.answer(status());
    await a;
    clock.now = connected - 1;
    assert.ok(states.isReached('ssh:box'));
    await states.reach('ssh:box', never());
    clock.now += connected;
    void states.reach('ssh:box', never());
    assert.equal(asked.length, 2);
  });

  it('is asked again after the service has ended, or a request has failed', async () => {
    for (const again of ['disconnected', 'retry'] as const) {
      const { states, asked } = hosts();
      const a = states.reach('ssh:box', never());
      asked[0]!.answer(status());
      await a;
      states[again]('ssh:box');
      void states.reach('ssh:box', never());
      assert.equal(asked.length, 2);
    }
  });

  it('rests after a failure, so that typing does not ask with every key; a retry asks', async () => {
    const { states, asked, clock } = hosts();
    const a = states.reach('ssh:box', never());
    asked[0]!.refuse(new Error('no route'));
    await assert.rejects(a, /no route/);
    assert.deepEqual(states.state('ssh:box'), { kind: 'unreachable', message: 'no route' });
    await assert.rejects(states.reach('ssh:box', never()), /no route/);
    assert.equal(asked.length, 1);
    states.retry('ssh:box');
    const b = states.reach('ssh:box', never());
    assert.equal(asked.length, 2);
    asked[1]!.refuse(new Error('still none'));
    await assert.rejects(b, /still none/);
    clock.now += rest;
    void states.reach('ssh:box', never());
    assert.equal(asked.length, 3);
  });

  it('takes an error that says nothing about the host for none', async () => {
    const { states, asked } = hosts();
    const a = states.reach('ssh:box', never());
    asked[0]!.refuse(new RangeError('the server was restarted'));
    await assert.rejects(a, RangeError);
    assert.equal(states.state('ssh:box'), undefined);
    void states.reach('ssh:box', never());
    assert.equal(asked.length, 2);
  });

  it('reads in words', () => {
    const t = (m: string, ...a: unknown[]): string => m.replace('{0}', String(a[0]));
    assert.equal(stateWords(undefined, t), '');
    assert.equal(stateWords({ kind: 'enabled', status: status() }, t), '$(check) 3 sessions, up to date');
    assert.equal(stateWords({ kind: 'enabled', status: status({ phase: 'idle', sessions: 0 }) }, t), '$(check) switched on; its index is not open yet');
    assert.equal(stateWords({ kind: 'unreachable', message: 'a\n$(rm)' }, t), '$(error) a $\u200b(rm)');
    assert.deepEqual(wrapped('one two three four', 9), ['one two', 'three', 'four']);
    assert.deepEqual(wrapped('', 9), []);
    assert.deepEqual(wrapped('a-word-that-is-too-long b', 5), ['a-word-that-is-too-long', 'b']);
  });
});
