// The user's consent. It lies with the server, on disk and shared by all editors; here it
// is only asked for. Nothing is read before.

import * as vscode from 'vscode';
import type { Policy, Status } from './contract';
import type { Connection } from './server/connection';

/** Shows the question; a test answers it by itself. */
export type Asker = (message: string, detail: string, yes: string, no: string) => Thenable<string | undefined>;

export const askWithNotification: Asker = (message, detail, yes, no) =>
  vscode.window.showInformationMessage(`${message} ${detail}`, yes, no);

const askedKey = 'sessions.consentAsked';

export class Consent {
  constructor(
    private readonly connection: Connection,
    private readonly memento: vscode.Memento,
    private readonly ask: Asker = askWithNotification,
  ) {}

  /** What the question says, for every place that asks it. */
  static words(): { readonly message: string; readonly detail: string; readonly yes: string; readonly no: string } {
    return {
      message: vscode.l10n.t('Search the conversations you had with coding agents?'),
      detail: vscode.l10n.t(
        'sessionls reads the transcripts that Claude Code, Codex, Copilot and other agents keep on this machine and builds an index of them beside. Nothing leaves the machine, and no transcript is changed. You can switch it off and delete the index at any time.',
      ),
      yes: vscode.l10n.t('Enable'),
      no: vscode.l10n.t('Not now'),
    };
  }

  /** Asks unbidden, once ever, if the user has not decided. "Not now" is no decision. */
  async askOnce(status: Status): Promise<void> {
    if (status.decided || this.memento.get<boolean>(askedKey) === true) return;
    await this.memento.update(askedKey, true);
    const { message, detail, yes, no } = Consent.words();
    if ((await this.ask(message, detail, yes, no)) === yes) await this.enable();
  }

  /** The user has seen the question elsewhere and said "Not now". */
  async notNow(): Promise<void> {
    await this.memento.update(askedKey, true);
  }

  async enable(): Promise<Policy> {
    await this.memento.update(askedKey, true);
    return this.connection.request('setPolicy', { enabled: true });
  }

  async disable(): Promise<Policy> {
    return this.connection.request('setPolicy', { enabled: false });
  }

  async keepDays(days: number | null): Promise<Policy> {
    return this.connection.request('setPolicy', { historyDays: days });
  }
}
