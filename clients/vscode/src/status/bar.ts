// The item in the status bar, and the page behind it.

import * as vscode from 'vscode';
import type { Hosts } from '../hosts/hosts';
import type { Connection } from '../server/connection';
import { onSettingChange, setting } from '../settings';
import { statusLine, statusPage } from './text';

export const statusPageScheme = 'sessionls-status';

export class StatusBar implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly item = vscode.window.createStatusBarItem('sessions.status', vscode.StatusBarAlignment.Right, 90);
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly page = vscode.Uri.from({ scheme: statusPageScheme, path: `/${vscode.l10n.t('Agent Sessions Status')}.md` });
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly connection: Connection,
    private readonly hosts: Hosts,
  ) {
    this.item.name = vscode.l10n.t('Agent Sessions');
    this.item.command = 'sessions.showStatus';
    this.subscriptions = [
      this.item,
      this.changed,
      connection.onDidChangeState(() => this.show()),
      connection.onDidChangeStatus(() => this.show()),
      hosts.onDidChoose(() => this.show()),
      hosts.onDidChangeState((host) => {
        if (host === hosts.host) this.show();
      }),
      onSettingChange(['statusBar.visible'], () => this.show()),
      vscode.workspace.registerTextDocumentContentProvider(statusPageScheme, this),
    ];
    this.show();
  }

  dispose(): void {
    for (const s of this.subscriptions) s.dispose();
  }

  /** Opens the status page, rendered. */
  async open(): Promise<void> {
    await vscode.commands.executeCommand('markdown.showPreview', this.page);
  }

  async provideTextDocumentContent(): Promise<string> {
    const { connection } = this;
    const running = connection.state === 'running';
    const [status, policy] = running
      ? await Promise.all([connection.request('searchStatus', {}).catch(() => undefined), connection.request('getPolicy', {}).catch(() => undefined)])
      : [undefined, undefined];
    return statusPage(
      {
        state: connection.state,
        status,
        historyDays: policy?.historyDays,
        version: connection.serverVersion,
        ...(this.hosts.isRemote ? { elsewhere: { name: this.elsewhere, state: this.hosts.states.state(this.hosts.host) } } : {}),
        now: Date.now(),
        locale: vscode.env.language,
      },
      vscode.l10n.t,
    );
  }

  private get elsewhere(): string {
    return this.hosts.name(this.hosts.host);
  }

  private show(): void {
    const line = statusLine(this.connection.state, this.connection.status, vscode.l10n.t, this.hosts.isRemote ? this.elsewhere : undefined);
    this.item.text = line.text;
    this.item.tooltip = line.tooltip;
    this.item.accessibilityInformation = { label: line.spoken, role: 'button' };
    this.item.backgroundColor =
      line.level === 'error'
        ? new vscode.ThemeColor('statusBarItem.errorBackground')
        : line.level === 'warning'
          ? new vscode.ThemeColor('statusBarItem.warningBackground')
          : undefined;
    if (setting('statusBar.visible')) this.item.show();
    else this.item.hide();
    if (vscode.workspace.textDocuments.some((d) => d.uri.scheme === statusPageScheme)) this.changed.fire(this.page);
  }
}
