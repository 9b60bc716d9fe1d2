// Other hosts, asked through the real server: environments behind scripts, and a stand-in for ssh.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { sessionUri } from '../../src/transcript/uri';
import { remote } from '../tools/remote';
import { api, eventually, testPaths } from './help';

const basin = { host: 'runtime:basin', label: 'Dev container' };
const here = { host: 'local', label: '' };
const never = (): AbortSignal => new AbortController().signal;
const sshCalls = (): string => (fs.existsSync(testPaths().sshCalls) ? fs.readFileSync(testPaths().sshCalls, 'utf8') : '');

suite('hosts', () => {
  teardown(async () => {
    const { hosts } = await api();
    await vscode.workspace.getConfiguration('sessions').update('host', undefined, vscode.ConfigurationTarget.Global);
    await hosts.choose(here);
  });

  test('are listed from the configuration of sessionls and from that of ssh', async () => {
    const { hosts } = await api();
    const list = await hosts.list();
    assert.deepEqual(list.warnings, [`${path.join(testPaths().own, 'config.toml')}: hosts.broken has no command; ignored`]);
    const known = hosts.known(list.hosts);
    assert.deepEqual(known.map((h) => `${h.source} ${h.host} ${h.label}`), [
      'local local ',
      'config runtime:bare Bare box',
      'config runtime:basin Dev container',
      'config runtime:gone Stopped box',
      'config runtime:hangs Slow box',
      'config runtime:off Silent box',
      'ssh_config ssh:pier pier',
    ]);
    assert.equal(sshCalls(), '', 'a host was asked unbidden');
  });

  test('are searched one at a time; hits, headers and documents carry the host', async () => {
    const { connection, hosts } = await api();
    await hosts.choose(basin);
    assert.equal(hosts.host, 'runtime:basin');
    await hosts.reach(hosts.host, never());
    await eventually(async () => (await connection.request('searchStatus', { executionHost: hosts.host })).phase === 'current');
    const answer = await connection.request('searchSessions', { query: 'dredging basin', executionHost: hosts.host });
    assert.ok(answer.kind === 'results');
    assert.deepEqual(answer.hits.map((h) => [h.sessionId, h.executionHostId, h.source.filePath, h.resumeCommand]), [[remote.sessionId, 'runtime:basin', undefined, undefined]]);

    const uri = vscode.Uri.parse(sessionUri({ host: hosts.host, ...remote }), true);
    const document = await vscode.workspace.openTextDocument(uri);
    assert.match(document.getText(), /seven metres deep/);
    const links = (await vscode.commands.executeCommand<vscode.DocumentLink[] | undefined>('vscode.executeLinkProvider', uri)) ?? [];
    assert.deepEqual(links.filter((l) => l.target?.scheme !== 'http' && l.target?.scheme !== 'https'), [], 'a path of that host was taken for one of this machine');

    const local = await connection.request('searchSessions', { query: 'dredging basin' });
    assert.ok(local.kind === 'unavailable' || (local.kind === 'results' && local.hits.every((h) => h.sessionId !== remote.sessionId)));
  });

  test('a setting of the user holds where none was chosen; one of the workspace never does', async () => {
    const { hosts } = await api();
    // The workspace sets both; one of them it may.
    await eventually(() => vscode.workspace.getConfiguration('sessions').get('view.groupBy') === 'agent');
    assert.equal(hosts.host, 'local');
    const told: string[] = [];
    const subscription = hosts.onDidChoose((host) => told.push(host));
    await vscode.workspace.getConfiguration('sessions').update('host', 'runtime:basin', vscode.ConfigurationTarget.Global);
    await eventually(() => hosts.host === 'runtime:basin');
    // The choice of this workspace goes before it.
    await hosts.choose(here);
    assert.equal(hosts.host, 'local');
    await hosts.choose(basin);
    await eventually(() => told.length === 3);
    assert.deepEqual(told, ['runtime:basin', 'local', 'runtime:basin']);
    subscription.dispose();
    await vscode.workspace.getConfiguration('sessions').update('host', 'all', vscode.ConfigurationTarget.Global);
    await eventually(() => hosts.host === 'all');
    await assert.rejects(hosts.reach(hosts.host, never()), /allowed/, 'what is no host is an error, and nothing else is searched');
    assert.ok(!sshCalls().includes('evil'));
  });

  test('a document of a host that the user has not chosen asks nobody', async () => {
    const { hosts } = await api();
    const uri = vscode.Uri.parse(sessionUri({ host: 'ssh:evil', ...remote }), true);
    const document = await vscode.workspace.openTextDocument(uri);
    assert.match(document.getText(), /is said to lie on ssh:evil\. That host is not asked/);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('sessions.copyResumeCommand');
    await vscode.commands.executeCommand('sessions.refreshTranscript');
    await vscode.commands.executeCommand('sessions.showParent', { ...remote, host: 'ssh:evil' });
    assert.ok(!sshCalls().includes('evil'));

    await hosts.choose({ host: 'ssh:evil', label: 'evil' });
    await eventually(() => /cannot be shown: ssh:evil/.test(document.getText()));
    await hosts.choose(here);
    await hosts.dropUsed('ssh:evil');
    assert.equal(hosts.isTrusted('ssh:evil'), false);
  });

  test('say in the words of the server why they give no answer', async () => {
    const { hosts } = await api();
    await assert.rejects(hosts.reach('runtime:gone', never()), /^Error: runtime:gone: the service ended before it answered, with exit code 1 \(the environment is not running\)/);
    assert.equal(hosts.states.state('runtime:gone')?.kind, 'unreachable');
    await assert.rejects(hosts.reach('ssh:nowhere', never()), /ssh does not know this host/);
    await assert.rejects(hosts.reach('runtime:none', never()), /is not in the configuration file/);
    assert.equal((await hosts.states.ask('runtime:off', never())).enabled, false);
    assert.deepEqual(hosts.states.state('runtime:off'), { kind: 'not-enabled' });
  });

  test('one that hangs holds up nothing and is left when nobody waits', async () => {
    const { connection, hosts } = await api();
    const waiting = new AbortController();
    const asked = hosts.reach('runtime:hangs', waiting.signal);
    const file = path.join(path.dirname(testPaths().sshCalls), 'hangs.txt');
    await eventually(() => fs.existsSync(file));
    await connection.request('searchStatus', {});
    waiting.abort();
    await assert.rejects(asked, /Slow box was not waited for/);
    const pid = Number(fs.readFileSync(file, 'utf8').trim());
    await eventually(() => !alive(pid));
  });

  test('are resumed by a command that leads there, if there is one', async () => {
    const { connection } = await api();
    const name = { agent: remote.agent, sessionId: remote.sessionId, shell: 'posix' as const };
    const plan = await connection.request('resumePlan', { ...name, executionHost: 'runtime:basin' });
    assert.match(plan.command ?? '', /terminal sh -c 'cd \/srv\/harbour && claude --resume 5e550002/);
    assert.equal(plan.cwd, null);
    const none = await connection.request('resumePlan', { ...name, executionHost: 'runtime:bare' });
    assert.equal(none.command, null);
    assert.equal(none.warnings[0]?.code, 'no-command');
  });
});

function alive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
