// Puts the parts together. All state lives in objects made here and ends with them.

import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as vscode from 'vscode';
import { Consent } from './consent';
import { registerCommands } from './commands';
import { Hosts } from './hosts/hosts';
import { locateBinary } from './server/binary';
import { Connection } from './server/connection';
import { TroubleMessages } from './server/trouble';
import { Searches } from './search/searches';
import { SessionActions } from './session/actions';
import { Lineage } from './session/lineage';
import { onSettingChange, setting } from './settings';
import { StatusBar } from './status/bar';
import { surroundings } from './surroundings';
import { HostBadges } from './transcript/badges';
import { TranscriptDocuments } from './transcript/documents';
import { FileLinks } from './transcript/linkprovider';
import { TranscriptNavigator } from './transcript/navigator';
import { scheme } from './transcript/uri';
import { SessionsView } from './view/tree';

/** What activate returns, for tests and for other extensions that want to ask the server. */
export interface Api {
  readonly connection: Connection;
  readonly consent: Consent;
  readonly actions: SessionActions;
  readonly hosts: Hosts;
}

export function activate(context: vscode.ExtensionContext): Api {
  const log = vscode.window.createOutputChannel('sessionls', { log: true });
  const configuration = (): Record<string, unknown> => ({
    workspaceSymbols: setting('workspaceSymbols'),
    statusNotifications: setting('server.statusNotifications'),
  });
  const connection = new Connection({
    log,
    locate: () =>
      locateBinary({
        configured: setting('server.path'),
        extensionPath: context.extensionPath,
        searchPath: process.env['PATH'] ?? '',
        home: os.homedir(),
        windows: process.platform === 'win32',
        isExecutable: (file) =>
          fs.access(file, fs.constants.X_OK).then(
            () => true,
            () => false,
          ),
      }),
    environment: () => setting('server.environment'),
    configuration,
    commandPrefix: () => setting('server.commandPrefix'),
    middleware: {
      workspace: {
        configuration: (params) => params.items.map((item) => (item.section === 'sessionls' ? configuration() : null)),
      },
      // Whoever asks, the text is the one whose lines are known to belong to which event.
      provideTextDocumentContent: (uri, token) => documents.provideTextDocumentContent(uri, token),
    },
  });
  const hosts = new Hosts(connection, context.workspaceState, context.globalState);
  const documents: TranscriptDocuments = new TranscriptDocuments(connection, hosts);
  const navigator = new TranscriptNavigator(connection, documents, hosts);
  const consent = new Consent(connection, context.globalState);
  const around = () => surroundings(connection, hosts);
  const searches = new Searches(connection, consent, hosts, around);
  const actions = new SessionActions(connection, hosts, navigator, searches);
  searches.use(actions);
  const lineage = new Lineage(connection, hosts, actions, around);
  const view = new SessionsView(connection, hosts, around);
  const statusBar = new StatusBar(connection, hosts);

  context.subscriptions.push(
    log,
    connection,
    hosts,
    documents,
    navigator,
    searches,
    view,
    statusBar,
    vscode.languages.registerDocumentLinkProvider({ scheme }, new FileLinks(documents)),
    vscode.window.registerFileDecorationProvider(new HostBadges(hosts)),
    new TroubleMessages(connection, () => log.show()),
    connection.onDidChangeStatus((status) => void consent.askOnce(status)),
    onSettingChange(['server.path', 'server.environment', 'server.commandPrefix'], () => void connection.restart()),
    onSettingChange(['workspaceSymbols', 'server.statusNotifications'], () => void connection.configure()),
    registerCommands({ connection, consent, hosts, actions, lineage, searches, documents, navigator, view, statusBar, log }),
  );
  void connection.start();
  return { connection, consent, actions, hosts };
}
