// The commands of the extension. Each is a few lines; what they do is elsewhere.

import * as vscode from 'vscode';
import type { Consent } from './consent';
import type { Connection } from './server/connection';
import type { RowAction, Toggle } from './search/buttons';
import type { SearchPicker } from './search/picker';
import type { Searches } from './search/searches';
import { fileQuery, oneQuery } from './search/query';
import { reportFailure } from './failure';
import { isHost, type KnownHost, shortName } from './hosts/host';
import type { Hosts } from './hosts/hosts';
import { untrusted } from './hosts/messages';
import { chooseHost } from './hosts/picker';
import type { SessionActions } from './session/actions';
import type { Kin, Lineage } from './session/lineage';
import { asRef, refOfHeader, type SessionRef } from './session/ref';
import { changeSetting, type GroupBy } from './settings';
import type { StatusBar } from './status/bar';
import type { TranscriptDocuments } from './transcript/documents';
import type { TranscriptNavigator } from './transcript/navigator';
import { parseSessionUri } from './transcript/uri';
import type { SessionsView, TreeSession } from './view/tree';

export interface CommandDependencies {
  readonly connection: Connection;
  readonly consent: Consent;
  readonly hosts: Hosts;
  readonly actions: SessionActions;
  readonly lineage: Lineage;
  readonly searches: Searches;
  readonly documents: TranscriptDocuments;
  readonly navigator: TranscriptNavigator;
  readonly view: SessionsView;
  readonly statusBar: StatusBar;
  readonly log: vscode.LogOutputChannel;
}

export function registerCommands(deps: CommandDependencies): vscode.Disposable {
  const { connection, hosts, actions, lineage, searches, navigator, view, statusBar, log } = deps;
  /** A command about the session of its argument, of the active document or of the view. */
  const withSession = (then: (ref: SessionRef) => Promise<void>) => async (argument: unknown): Promise<void> => {
    const ref = sessionOf(argument, deps);
    if (ref === undefined) void vscode.window.showInformationMessage(vscode.l10n.t('Open or select a session first.'));
    else if (!hosts.isTrusted(ref.host)) void vscode.window.showInformationMessage(untrusted(ref.host));
    else await then(ref);
  };
  const kin = (which: Kin) => withSession((ref) => lineage.show(ref, which));
  const withPicker = (then: (picker: SearchPicker) => Promise<void>) => async (): Promise<void> => {
    if (searches.active !== undefined) await then(searches.active);
  };
  const row = (action: RowAction) => withPicker((picker) => picker.actOnActive(action));
  const toggle = (which: Toggle) => withPicker((picker) => picker.toggle(which));
  const groupBy = (by: GroupBy) => () => changeSetting('view.groupBy', by);

  const handlers: Record<string, (...args: unknown[]) => unknown> = {
    'sessions.search': (query) => searches.search(typeof query === 'string' ? { query } : {}),
    'sessions.chooseHost': (host) => chooseHost(hosts, namedHost(host)),
    'sessions.searchSelection': () => searchSelection(searches),
    'sessions.searchError': () => searchError(searches),
    'sessions.searchFile': (resource) => searchFile(searches, resource),
    'sessions.searchInSession': withSession((ref) => actions.searchIn(ref)),
    'sessions.open': withSession((ref) => actions.open(ref)),
    'sessions.openBeside': withSession((ref) => actions.open(ref, {}, { beside: true })),
    'sessions.resume': withSession((ref) => actions.resume(ref)),
    'sessions.copyResumeCommand': withSession((ref) => actions.copyResumeCommand(ref)),
    'sessions.copyId': withSession((ref) => actions.copyId(ref)),
    'sessions.revealFile': withSession((ref) => actions.revealFile(ref)),
    'sessions.forget': withSession((ref) => actions.forget(ref)),
    'sessions.showParent': kin('parent'),
    'sessions.showForks': kin('forks'),
    'sessions.showSubagents': kin('subagents'),
    'sessions.refreshTranscript': withSession((ref) => navigator.refresh(ref)),
    'sessions.nextMatch': () => navigator.next(),
    'sessions.previousMatch': () => navigator.previous(),
    'sessions.showStatus': () => statusBar.open(),
    'sessions.enable': () => deps.consent.enable(),
    'sessions.disable': () => deps.consent.disable(),
    'sessions.keepHistory': () => keepHistory(deps),
    'sessions.clearIndex': () => clearIndex(connection),
    'sessions.restart': () => connection.restart(),
    'sessions.showLog': () => log.show(),
    'sessions.copyText': (text) => vscode.env.clipboard.writeText(String(text)),
    'sessions.view.refresh': () => view.refresh(),
    'sessions.view.more': () => view.more(),
    'sessions.view.groupByNewest': groupBy('newest'),
    'sessions.view.groupByProject': groupBy('project'),
    'sessions.view.groupByAgent': groupBy('agent'),
    'sessions.view.showWorkspace': () => changeSetting('view.where', 'workspace'),
    'sessions.view.showEverywhere': () => changeSetting('view.where', 'everywhere'),
    'sessions.row.resume': row('resume'),
    'sessions.row.copyResumeCommand': row('copyResume'),
    'sessions.row.copyId': row('copyId'),
    'sessions.row.revealFile': row('reveal'),
    'sessions.row.openBeside': row('openBeside'),
    'sessions.row.searchInSession': row('searchIn'),
    'sessions.toggle.where': toggle('where'),
    'sessions.toggle.scope': toggle('scope'),
    'sessions.toggle.sort': toggle('sort'),
    'sessions.toggle.agents': toggle('agents'),
    'sessions.toggle.host': toggle('host'),
  };
  return vscode.Disposable.from(
    ...Object.entries(handlers).map(([id, handler]) =>
      vscode.commands.registerCommand(id, async (...args: unknown[]) => {
        try {
          return await handler(...args);
        } catch (error) {
          log.error(`${id}: ${String(error)}`);
          reportFailure(error);
          return undefined;
        }
      }),
    ),
  );
}

/** The session a command is about. */
function sessionOf(argument: unknown, deps: CommandDependencies): SessionRef | undefined {
  const node = argument as Partial<TreeSession> | undefined;
  if (node?.kind === 'session' && node.session !== undefined) return refOfHeader(node.session);
  const given = argument instanceof vscode.Uri ? documentRef(argument, deps) : asRef(argument);
  if (given !== undefined) return given;
  const active = vscode.window.activeTextEditor?.document.uri;
  return (active && documentRef(active, deps)) ?? deps.view.selected;
}

function documentRef(uri: vscode.Uri, deps: CommandDependencies): SessionRef | undefined {
  const address = parseSessionUri(uri.toString());
  if (address === undefined) return undefined;
  const header = deps.documents.rendering(uri)?.session;
  return header === undefined ? address : { ...refOfHeader(header), host: address.host };
}

/** A host as the argument of a command; undefined for none. */
function namedHost(argument: unknown): KnownHost | undefined {
  if (typeof argument !== 'string') return undefined;
  if (!isHost(argument)) throw new Error(vscode.l10n.t('{0} is no name of a host: local, ssh:NAME or runtime:ID', argument));
  return { host: argument, label: shortName(argument), source: 'used' };
}

function searchSelection(searches: Searches): void {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection) ?? '';
  searches.search({ query: oneQuery(text) });
}

/** Searches the message of the diagnostic under the cursor, or the nearest on its line. */
function searchError(searches: Searches): void {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  const at = editor.selection.active;
  const all = vscode.languages.getDiagnostics(editor.document.uri);
  const found = all.find((d) => d.range.contains(at)) ?? all.find((d) => d.range.start.line <= at.line && d.range.end.line >= at.line);
  if (found === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('There is no error or warning at the cursor.'));
    return;
  }
  searches.search({ query: oneQuery(found.message) });
}

function searchFile(searches: Searches, resource: unknown): void {
  const uri = resource instanceof vscode.Uri ? resource : vscode.window.activeTextEditor?.document.uri;
  if (uri === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Open a file first.'));
    return;
  }
  searches.search({ query: fileQuery(vscode.workspace.asRelativePath(uri, false)), choices: { sort: 'newest', scope: 'all', scopePaths: [] } });
}

async function clearIndex(connection: Connection): Promise<void> {
  const clear = vscode.l10n.t('Clear Index');
  const enabled = connection.status?.enabled === true;
  const answer = await vscode.window.showWarningMessage(
    vscode.l10n.t('Delete the index of your agent sessions?'),
    {
      modal: true,
      detail: enabled
        ? vscode.l10n.t('The index is deleted and built anew. No transcript is touched, but text kept of transcripts that their agents have deleted is lost.')
        : vscode.l10n.t('The index is deleted. No transcript is touched, but text kept of transcripts that their agents have deleted is lost.'),
    },
    clear,
  );
  if (answer !== clear) return;
  await connection.request('clear', {});
  void vscode.window.showInformationMessage(enabled ? vscode.l10n.t('The index was deleted and is built anew.') : vscode.l10n.t('The index was deleted.'));
}

/** Asks how many days of history are to be kept in the index. */
async function keepHistory(deps: CommandDependencies): Promise<void> {
  const policy = await deps.connection.request('getPolicy', {});
  const answer = await vscode.window.showInputBox({
    title: vscode.l10n.t('Keep the history of how many days in the index?'),
    prompt: vscode.l10n.t('1 to 3650; empty for everything. Older sessions are dropped from the index, transcripts are not touched.'),
    value: policy.historyDays === null ? '' : String(policy.historyDays),
    validateInput: (text) => (validDays(text) ? undefined : vscode.l10n.t('A number from 1 to 3650, or nothing')),
  });
  if (answer === undefined) return;
  await deps.consent.keepDays(answer.trim() === '' ? null : Number(answer));
}

function validDays(text: string): boolean {
  return text.trim() === '' || (/^\s*\d{1,4}\s*$/.test(text) && Number(text) >= 1 && Number(text) <= 3650);
}
