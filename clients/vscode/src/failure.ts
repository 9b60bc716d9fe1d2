// Telling that something failed.

import * as vscode from 'vscode';
import { errorCode } from './contract';
import { oneLine } from './words';

/** Shows why a request was refused, in the words of the server; a cancelled one is no failure. */
export function reportFailure(error: unknown): void {
  if (error instanceof vscode.CancellationError) return;
  const message = errorCode(error) === 'SESSION_QUERY_SESSION_NOT_FOUND' ? vscode.l10n.t('This session is gone from the index.') : error instanceof Error ? error.message : String(error);
  void vscode.window.showErrorMessage(oneLine(message, 500));
}
