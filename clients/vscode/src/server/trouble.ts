// One message, with a button that helps, when there is no server.

import * as vscode from 'vscode';
import type { Connection } from './connection';

export class TroubleMessages implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;
  private shown = false;

  constructor(
    private readonly connection: Connection,
    private readonly showLog: () => void,
  ) {
    this.subscription = connection.onDidChangeState((state) => {
      if (state === 'running') this.shown = false;
      if (state === 'failed') void this.tell();
    });
  }

  dispose(): void {
    this.subscription.dispose();
  }

  /** Tells what is wrong, unless that was done and nothing has worked since. */
  private async tell(): Promise<void> {
    const { trouble } = this.connection;
    if (this.shown || trouble === undefined) return;
    this.shown = true;
    const restart = vscode.l10n.t('Restart');
    const log = vscode.l10n.t('Show Log');
    const settings = vscode.l10n.t('Open Setting');
    let message: string;
    let buttons: string[];
    if (trouble.kind === 'crashing') {
      message = vscode.l10n.t('The session server stopped several times and is not started again.');
      buttons = [restart, log];
    } else if (trouble.located.reason === 'setting') {
      message = vscode.l10n.t('The session server of the setting sessions.server.path cannot be started: {0}', trouble.located.tried[0] ?? '');
      buttons = [settings, restart];
    } else {
      message = vscode.l10n.t('No sessionls was found, neither in this extension nor on PATH. Install it or tell where it is.');
      buttons = [settings, restart, log];
    }
    switch (await vscode.window.showErrorMessage(message, ...buttons)) {
      case restart:
        await this.connection.restart();
        break;
      case log:
        this.showLog();
        break;
      case settings:
        await vscode.commands.executeCommand('workbench.action.openSettings', 'sessions.server.path');
        break;
    }
  }
}
