// What can be done with a session, from wherever it is shown.

import * as vscode from 'vscode';
import type { ResumePlan } from '../contract';
import { reportFailure } from '../failure';
import { isLocal } from '../hosts/host';
import type { Hosts } from '../hosts/hosts';
import { reportHostFailure, withPatience } from '../hosts/messages';
import type { Connection } from '../server/connection';
import { setting } from '../settings';
import { oneLine } from '../words';
import { named, type Place, type SessionRef } from './ref';
import { shellOf } from './shell';

/** Shows a session's document. */
export interface TranscriptOpener {
  open(ref: SessionRef, place: Place, options?: { readonly beside?: boolean }): Promise<void>;
}

export interface SessionSearcher {
  searchIn(ref: SessionRef, query: string): Promise<void>;
}

export class SessionActions {
  constructor(
    private readonly connection: Connection,
    private readonly hosts: Hosts,
    private readonly transcripts: TranscriptOpener,
    private readonly searcher: SessionSearcher,
  ) {}

  async open(ref: SessionRef, place: Place = {}, options: { readonly beside?: boolean } = {}): Promise<void> {
    await this.transcripts.open(ref, place, options);
  }

  async searchIn(ref: SessionRef, query = ''): Promise<void> {
    await this.searcher.searchIn(ref, query);
  }

  /**
   * Goes on with a session in a terminal, in the folder it was in. The command for a session of
   * another host leads there by itself, from any folder.
   */
  async resume(ref: SessionRef): Promise<void> {
    const plan = await this.plan(ref, () => this.resume(ref));
    if (plan === undefined) return;
    if (plan.command === null) {
      await this.cannotResume(ref, plan);
      return;
    }
    if (plan.warnings.length > 0) {
      const anyway = vscode.l10n.t('Resume Anyway');
      const question = vscode.l10n.t('Resume "{0}"?', oneLine(ref.title ?? ref.sessionId, 80));
      if ((await vscode.window.showWarningMessage(question, { modal: true, detail: reasons(plan) }, anyway)) !== anyway) return;
    }
    const title = oneLine(ref.title ?? ref.sessionId, 40);
    const terminal = vscode.window.createTerminal({
      name: isLocal(ref.host) ? title : vscode.l10n.t('{0} – on {1}', title, this.hosts.name(ref.host)),
      iconPath: new vscode.ThemeIcon('comment-discussion'),
      ...(plan.cwd !== null && plan.checks.directory !== false ? { cwd: plan.cwd } : {}),
    });
    terminal.show();
    terminal.sendText(plan.command, setting('resume.execute'));
  }

  async copyResumeCommand(ref: SessionRef): Promise<void> {
    const plan = await this.plan(ref, () => this.copyResumeCommand(ref));
    if (plan === undefined) return;
    if (plan.command === null) {
      await this.cannotResume(ref, plan);
      return;
    }
    await vscode.env.clipboard.writeText(plan.command);
    this.say(vscode.l10n.t('Copied: {0}', oneLine(plan.command, 100)));
  }

  async copyId(ref: SessionRef): Promise<void> {
    await vscode.env.clipboard.writeText(ref.sessionId);
    this.say(vscode.l10n.t('Copied: {0}', oneLine(ref.sessionId, 100)));
  }

  /** Shows the agent's own file: in the file manager on a desktop, else in an editor. */
  async revealFile(ref: SessionRef): Promise<void> {
    if (!isLocal(ref.host)) {
      void vscode.window.showInformationMessage(vscode.l10n.t('The transcript of this session lies on {0}.', this.hosts.name(ref.host)));
      return;
    }
    const file = ref.filePath ?? (await this.filePath(ref));
    if (file === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t('The transcript of this session is not on this machine any more.'));
      return;
    }
    const uri = vscode.Uri.file(file);
    if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
      await vscode.commands.executeCommand('revealFileInOS', uri);
    } else {
      await vscode.window.showTextDocument(uri, { preview: true });
    }
  }

  /** Drops a session from the index for good, after asking. The transcript stays. */
  async forget(ref: SessionRef): Promise<void> {
    if (!isLocal(ref.host)) {
      void vscode.window.showInformationMessage(vscode.l10n.t('The index that holds this session is that of {0}; it is forgotten there: {1}', this.hosts.name(ref.host), `sessionls forget ${ref.sessionId}`));
      return;
    }
    const forget = vscode.l10n.t('Forget Session');
    const answer = await vscode.window.showWarningMessage(
      vscode.l10n.t('Forget the session "{0}"?', oneLine(ref.title ?? ref.sessionId, 80)),
      {
        modal: true,
        detail: vscode.l10n.t('It and its sub-agents are dropped from the index for good and not found again. The transcript is not touched.'),
      },
      forget,
    );
    if (answer === forget) await this.connection.request('forgetSession', { sessionId: ref.sessionId, agent: ref.agent });
  }

  private async plan(ref: SessionRef, retry: () => unknown): Promise<ResumePlan | undefined> {
    const configured = setting('resume.shell');
    const shell = configured === 'auto' ? shellOf(vscode.env.shell) : configured;
    try {
      return await withPatience(ref.host, this.hosts.name(ref.host), (token) => this.connection.request('resumePlan', { ...named(ref), shell }, token));
    } catch (error) {
      void reportHostFailure(error, ref.host, { retry, another: false });
      return undefined;
    }
  }

  private async filePath(ref: SessionRef): Promise<string | undefined> {
    try {
      const answer = await this.connection.request('traceSession', named(ref));
      return answer.target.presence === 'present' ? answer.target.sourcePath : undefined;
    } catch (error) {
      reportFailure(error);
      return undefined;
    }
  }

  private async cannotResume(ref: SessionRef, plan: ResumePlan): Promise<void> {
    const why = plan.warnings.length > 0 ? reasons(plan) : vscode.l10n.t('A session of {0} cannot be resumed from a command line.', plan.agent);
    if (isLocal(ref.host)) {
      void vscode.window.showInformationMessage(why);
      return;
    }
    // Whoever is on that host in another way can name the session to its agent there.
    const copy = vscode.l10n.t('Copy Session ID');
    const how = vscode.l10n.t('This session cannot be resumed from here. {0}', why);
    if ((await vscode.window.showInformationMessage(how, copy)) === copy) await this.copyId(ref);
  }

  private say(text: string): void {
    vscode.window.setStatusBarMessage(`$(check) ${text}`, 4000);
  }
}

/** What stands against resuming a session, as sentences. */
function reasons(plan: ResumePlan): string {
  return plan.warnings.map((w) => `${w.message.charAt(0).toUpperCase()}${oneLine(w.message, 300).slice(1)}.`).join(' ');
}
