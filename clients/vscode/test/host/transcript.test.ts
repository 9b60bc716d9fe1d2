// Transcripts as documents, symbols, and a server that cannot be started.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { sessionUri } from '../../src/transcript/uri';
import { growing } from '../tools/growing';
import { api, eventually, testPaths, untilCurrent } from './help';

suite('transcripts', () => {
  const uri = vscode.Uri.parse(sessionUri({ host: 'local', ...growing }), true);

  suiteSetup(async () => {
    const { connection, consent } = await api();
    await consent.enable();
    await untilCurrent(connection);
  });

  test('a session is a read-only Markdown document, opened at the hit', async () => {
    const { actions } = await api();
    await actions.open({ ...growing, host: 'local' }, { seq: 3, words: ['truncation'] });
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.toString(), uri.toString());
    assert.equal(editor.document.languageId, 'markdown');
    assert.equal(editor.document.getText(editor.selection), 'truncation');
    assert.equal(vscode.workspace.fs.isWritableFileSystem(uri.scheme), undefined);
  });

  test('it has an outline and can be folded', async () => {
    await vscode.workspace.openTextDocument(uri);
    let symbols: vscode.DocumentSymbol[] = [];
    await eventually(async () => {
      symbols = (await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>('vscode.executeDocumentSymbolProvider', uri)) ?? [];
      return symbols.length > 0;
    });
    assert.match(symbols[0]!.name, /Round the harbour gauge/);
    assert.ok(symbols[0]!.children.length >= 4, 'a heading for each turn');
    const folds = await vscode.commands.executeCommand<vscode.FoldingRange[]>('vscode.executeFoldingRangeProvider', uri);
    assert.ok(folds.length >= 4);
  });

  test('it links to files that are in the workspace, with the line', async () => {
    const links = await vscode.commands.executeCommand<vscode.DocumentLink[]>('vscode.executeLinkProvider', uri);
    const targets = links.map((l) => l.target).filter((t) => t !== undefined);
    assert.deepEqual([...new Set(targets.map((t) => t.path))], [path.join(testPaths().workspace, 'src/gauge.ts')]);
    assert.ok(targets.some((t) => t.fragment === 'L2'));
  });

  test('an unknown session says so, in the document', async () => {
    const unknown = vscode.Uri.parse(sessionUri({ host: 'local', agent: 'claude', sessionId: 'there-is-none-like-this' }), true);
    const document = await vscode.workspace.openTextDocument(unknown);
    assert.match(document.getText(), /^This session cannot be shown: /);
  });

  test('a session is found as a workspace symbol, by words of its body, too', async () => {
    const { connection } = await api();
    if (!connection.offersSymbols) return;
    const found = await vscode.commands.executeCommand<vscode.SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', 'barometer');
    const symbol = found.find((s) => s.location.uri.scheme === 'sessionls');
    assert.ok(symbol !== undefined, JSON.stringify(found));
    assert.match(symbol.name, /Round the harbour gauge/);
    assert.match(symbol.name, /barometer/, 'clients that filter by name keep it');
    assert.equal(symbol.location.uri.toString(), uri.toString());
    const document = await vscode.workspace.openTextDocument(symbol.location.uri);
    assert.match(document.getText(), /barometer/);

    const configuration = vscode.workspace.getConfiguration('sessions');
    await configuration.update('workspaceSymbols', false, vscode.ConfigurationTarget.Global);
    await eventually(async () => {
      const none = await vscode.commands.executeCommand<vscode.SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', 'barometer');
      return none.every((s) => s.location.uri.scheme !== 'sessionls');
    });
    await configuration.update('workspaceSymbols', undefined, vscode.ConfigurationTarget.Global);
  });

  test('a resume plan has the command and the folder', async () => {
    const { connection } = await api();
    const plan = await connection.request('resumePlan', { agent: growing.agent, sessionId: growing.sessionId, shell: 'posix' });
    assert.equal(plan.command, `claude --resume ${growing.sessionId}`);
    assert.equal(plan.cwd, testPaths().workspace);
  });

  test('a server that is not there is told of, and another start helps', async () => {
    const { connection } = await api();
    const configuration = vscode.workspace.getConfiguration('sessions');
    await configuration.update('server.path', '/nowhere/sessionls', vscode.ConfigurationTarget.Global);
    await eventually(() => connection.state === 'failed');
    assert.deepEqual(connection.trouble, { kind: 'missing', located: { found: false, reason: 'setting', tried: ['/nowhere/sessionls'] } });
    await configuration.update('server.path', undefined, vscode.ConfigurationTarget.Global);
    await eventually(() => connection.state === 'running');
  });

  test('a server that ends at once is started again later each time, and at last not', async () => {
    const { connection } = await api();
    const broken = path.join(testPaths().home, 'broken');
    fs.writeFileSync(broken, '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    const states: string[] = [];
    const subscription = connection.onDidChangeState((state) => states.push(state));
    const configuration = vscode.workspace.getConfiguration('sessions');
    await configuration.update('server.path', broken, vscode.ConfigurationTarget.Global);
    await eventually(() => connection.state === 'failed');
    subscription.dispose();
    assert.equal(connection.trouble?.kind, 'crashing');
    assert.equal(states.filter((s) => s === 'waiting').length, 4);
    await configuration.update('server.path', undefined, vscode.ConfigurationTarget.Global);
    await eventually(() => connection.state === 'running');
  });
});
