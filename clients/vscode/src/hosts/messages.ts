// Waiting for another host, and what to do when it does not answer.

import * as vscode from 'vscode';
import { errorCode } from '../contract';
import { reportFailure } from '../failure';
import { oneLine } from '../words';
import { enableCommand, isLocal } from './host';
import { AskingStopped } from './states';

/** A host that takes longer is told of, with a way to stop. In milliseconds. */
const patience = 700;

/** Does what asks that host. Where it takes a while a message says so, which can cancel it; nothing else waits. */
export async function withPatience<T>(host: string, name: string, work: (token: vscode.CancellationToken) => Promise<T>): Promise<T> {
  const source = new vscode.CancellationTokenSource();
  let timer: NodeJS.Timeout | undefined;
  try {
    const done = work(source.token);
    if (!isLocal(host)) {
      timer = setTimeout(() => {
        void vscode.window.withProgress(
          { location: vscode.ProgressLocation.Notification, cancellable: true, title: vscode.l10n.t('Asking {0}. The first answer may take up to half a minute.', name) },
          async (_, token) => {
            token.onCancellationRequested(() => source.cancel());
            await done.then(() => undefined, () => undefined);
          },
        );
      }, patience);
    }
    return await done;
  } finally {
    clearTimeout(timer);
    source.dispose();
  }
}

/** What may be offered beside a message about a host. */
export interface Remedies {
  readonly retry?: () => unknown;
  /** False where another host would be no help: a session has only one. */
  readonly another?: boolean;
}

/** Says in the words of the server why a host gives no answer, with buttons that help. */
export async function reportHostFailure(error: unknown, host: string, remedies: Remedies = {}): Promise<void> {
  if (isLocal(host) || errorCode(error) === 'SESSION_QUERY_SESSION_NOT_FOUND') {
    reportFailure(error);
    return;
  }
  if (error instanceof vscode.CancellationError || error instanceof AskingStopped) return;
  await tellHostFailure(error instanceof Error ? error.message : String(error), host, errorCode(error) === 'SESSION_QUERY_SEARCH_DISABLED', remedies);
}

/** The same for a host that was asked and has no search. */
export async function tellHostFailure(text: string, host: string, disabled: boolean, remedies: Remedies = {}): Promise<void> {
  const copy = vscode.l10n.t('Copy Command');
  const retry = vscode.l10n.t('Retry');
  const another = vscode.l10n.t('Choose Another Host');
  const log = vscode.l10n.t('Show Log');
  const command = disabled ? enableCommand(host) : undefined;
  const buttons = [
    ...(command === undefined ? [] : [copy]),
    ...(remedies.retry === undefined ? [] : [retry]),
    ...(remedies.another === false ? [] : [another]),
    ...(disabled ? [] : [log]),
  ];
  switch (await vscode.window.showErrorMessage(oneLine(text, 1000), ...buttons)) {
    case copy:
      await vscode.env.clipboard.writeText(command ?? '');
      break;
    case retry:
      await remedies.retry?.();
      break;
    case another:
      await vscode.commands.executeCommand('sessions.chooseHost');
      break;
    case log:
      await vscode.commands.executeCommand('sessions.showLog');
      break;
  }
}

/** What to say of a host whose search is not switched on. */
export function notEnabled(host: string, name: string): string {
  const command = enableCommand(host);
  return command === undefined
    ? vscode.l10n.t('{0} has no session search that is switched on, or one that is too old. Its own user decides, there: sessionls enable', name)
    : vscode.l10n.t('{0} has no session search that is switched on, or one that is too old. Its own user decides: {1}', name, command);
}

/** What to say of a host that somebody else has named. */
export function untrusted(host: string): string {
  return vscode.l10n.t('This session is said to lie on {0}. That host is not asked before you have chosen it yourself, by "Sessions: Choose Host…".', oneLine(host, 300));
}
