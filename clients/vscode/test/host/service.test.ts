// The extension in a real extension host, over the real server.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { api, eventually, testPaths, untilCurrent } from './help';

suite('service', () => {
  test('activates and starts the packed server', async () => {
    const { connection } = await api();
    await eventually(() => connection.state === 'running');
    assert.ok(connection.supports('searchSessions'));
  });

  test('reads nothing before consent', async () => {
    const { connection } = await api();
    await eventually(() => connection.status !== undefined);
    assert.equal(connection.status?.decided, false);
    const answer = await connection.request('searchSessions', { query: 'gauge' });
    assert.deepEqual(answer, { kind: 'unavailable', reason: 'disabled' });
    const files = fs.existsSync(testPaths().own) ? fs.readdirSync(testPaths().own, { recursive: true }).map(String) : [];
    assert.deepEqual(files.filter((f) => /\.(db|sqlite)/.test(f)), [], 'there is an index already');
  });

  test('finds sessions after consent', async () => {
    const { connection, consent } = await api();
    await consent.enable();
    await untilCurrent(connection);
    const answer = await connection.request('searchSessions', { query: 'harbour gauge' });
    assert.ok(answer.kind === 'results');
    assert.equal(answer.hits[0]?.agent, 'claude');
  });

  test('registers every command of package.json, and no two ids of the server', async () => {
    const extension = vscode.extensions.getExtension('sessionls.sessionls');
    const declared = (extension?.packageJSON as { contributes: { commands: { command: string }[] } }).contributes.commands.map((c) => c.command);
    const known = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(declared.filter((id) => !known.has(id)), []);
    assert.ok(declared.length >= 15);
    assert.deepEqual(declared.filter((id) => id.startsWith('sessionls.')), []);
  });

  test('key bindings collide with none of the editor', async () => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse('vscode://defaultsettings/keybindings.json'));
    const text = document.getText();
    const bindings = [...text.matchAll(/\{ "key": "([^"]+)",\s+"command": "([^"]+)"(?:,\s+"when": "([^"]*)")?/g)];
    assert.ok(bindings.length > 500, `${bindings.length} bindings`);
    const ours = bindings.filter((b) => b[2]?.startsWith('sessions.'));
    assert.ok(ours.length > 10);
    // What works only in our own list or documents takes nothing away elsewhere.
    const everywhere = ours.filter((b) => !/sessions\.searchOpen|resourceScheme == 'sessionls'/.test(b[3] ?? ''));
    assert.ok(everywhere.length > 0);
    for (const our of everywhere) {
      const others = bindings.filter((b) => !b[2]?.startsWith('sessions.') && (b[1] === our[1] || our[1]?.startsWith(`${b[1]} `) === true && !b[1]?.startsWith('ctrl+k')));
      assert.deepEqual(others.map((b) => b[2]), [], `${our[1]} is taken`);
    }
  });

  test('a restart keeps consent and answers again', async () => {
    const { connection } = await api();
    await connection.restart();
    const answer = await connection.request('searchSessions', { query: 'gauge' });
    assert.equal(answer.kind, 'results');
    assert.ok(fs.existsSync(path.join(testPaths().home, '.claude')));
  });

  test('a setting reaches the server', async () => {
    const { connection } = await api();
    await untilCurrent(connection);
    const configuration = vscode.workspace.getConfiguration('sessions');
    await configuration.update('server.statusNotifications', false, vscode.ConfigurationTarget.Global);
    const policy = await connection.request('setPolicy', { historyDays: 3650 });
    assert.equal(policy.historyDays, 3650);
    await configuration.update('server.statusNotifications', undefined, vscode.ConfigurationTarget.Global);
    await connection.request('setPolicy', { historyDays: null });
  });
});
