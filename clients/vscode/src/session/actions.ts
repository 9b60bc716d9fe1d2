// What can be done with a session, from wherever it is shown.

import * as vscode from 'vscode';
import { errorCode, type ResumePlan } from '../contract';
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
    private readonly transcripts: TranscriptOpener,
    private readonly searcher: SessionSearcher,
  ) {}

  async open(ref: SessionRef, place: Place = {}, options: { readonly beside?: boolean } = {}): Promise<void> {
    await this.transcripts.open(ref, place, options);
  }

  async searchIn(ref: SessionRef, query = ''): Promise<void> {
    await this.searcher.searchIn(ref, query);
  }

  /** Goes on with a session in a terminal, in the folder it was in. */
  async resume(ref: SessionRef): Promise<void> {
    const plan = await this.plan(ref);
    if (plan === undefined) return;
    if (plan.command === null) {
      this.cannotResume(plan);
      return;
    }
    if (plan.warnings.length > 0) {
      const anyway = vscode.l10n.t('Resume Anyway');
      const question = vscode.l10n.t('Resume "{0}"?', oneLine(ref.title ?? ref.sessionId, 80));
      if ((await vscode.window.showWarningMessage(question, { modal: true, detail: reasons(plan) }, anyway)) !== anyway) return;
    }
    const terminal = vscode.window.createTerminal({
      name: oneLine(ref.title ?? ref.sessionId, 40),
      iconPath: new vscode.ThemeIcon('comment-discussion'),
      ...(plan.cwd !== null && plan.checks.directory !== false ? { cwd: plan.cwd } : {}),
    });
    terminal.show();
    terminal.sendText(plan.command, setting('resume.execute'));
  }

  async copyResumeCommand(ref: SessionRef): Promise<void> {
    const plan = await this.plan(ref);
    if (plan === undefined) return;
    if (plan.command === null) {
      this.cannotResume(plan);
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

  private async plan(ref: SessionRef): Promise<ResumePlan | undefined> {
    const configured = setting('resume.shell');
    const shell = configured === 'auto' ? shellOf(vscode.env.shell) : configured;
    try {
      return await this.connection.request('resumePlan', { ...named(ref), shell });
    } catch (error) {
      reportFailure(error);
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

  private cannotResume(plan: ResumePlan): void {
    void vscode.window.showInformationMessage(
      plan.warnings.length > 0 ? reasons(plan) : vscode.l10n.t('A session of {0} cannot be resumed from a command line.', plan.agent),
    );
  }

  private say(text: string): void {
    vscode.window.setStatusBarMessage(`$(check) ${text}`, 4000);
  }
}

/** What stands against resuming a session, as sentences. */
function reasons(plan: ResumePlan): string {
  return plan.warnings.map((w) => `${w.message.charAt(0).toUpperCase()}${oneLine(w.message, 300).slice(1)}.`).join(' ');
}

/** Shows why a request was refused, in the words of the server; a cancelled one is no failure. */
export function reportFailure(error: unknown): void {
  if (error instanceof vscode.CancellationError) return;
  const message = errorCode(error) === 'SESSION_QUERY_SESSION_NOT_FOUND' ? vscode.l10n.t('This session is gone from the index.') : error instanceof Error ? error.message : String(error);
  void vscode.window.showErrorMessage(oneLine(message, 500));
}
