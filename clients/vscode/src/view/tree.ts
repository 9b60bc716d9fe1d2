// The view "Agent Sessions".

import * as vscode from 'vscode';
import { type Filters, type Header, sessionKey, type Status } from '../contract';
import { reportFailure } from '../failure';
import { hosted, isLocal, localHost } from '../hosts/host';
import type { Hosts } from '../hosts/hosts';
import { type Connection, ServerGone } from '../server/connection';
import { sessionDescription, sessionIcon, shortDescription, type Surroundings } from '../search/rows';
import { refOfHeader, type SessionRef } from '../session/ref';
import { onSettingChange, setting } from '../settings';
import { percent } from '../status/text';
import { label, oneLine } from '../words';
import { Elsewhere, type RemedyNode } from './elsewhere';
import { arrange, type Node, type SessionNode } from './model';

export const viewId = 'sessions.view';

/** So many sessions are listed at first, and added by "More sessions". */
const pageSize = 100;

/** The view is read anew at most that often while sessions are written, in milliseconds. */
const refreshInterval = 2000;

interface MoreNode {
  readonly kind: 'more';
}

type TreeNode = Node | MoreNode | RemedyNode;

/** A session of the tree, as its commands get it. */
export type TreeSession = SessionNode;

export class SessionsView implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<TreeNode>;
  private readonly subscriptions: vscode.Disposable[];
  private wanted = pageSize;
  private timer: NodeJS.Timeout | undefined;
  private shown = '';
  private readonly elsewhere: Elsewhere<TreeNode>;

  constructor(
    private readonly connection: Connection,
    private readonly hosts: Hosts,
    private readonly surroundings: () => Surroundings,
  ) {
    this.elsewhere = new Elsewhere(hosts, { viewId, list: (host, token) => this.sessions(host, token), changed: () => this.changed.fire() });
    this.view = vscode.window.createTreeView<TreeNode>(viewId, { treeDataProvider: this, showCollapseAll: true });
    this.subscriptions = [
      this.view,
      this.elsewhere,
      this.changed,
      connection.onDidChangeStatus((status) => this.statusChanged(status)),
      connection.onDidChangeState(() => this.stateChanged()),
      onSettingChange(['view.groupBy', 'view.where'], () => this.reload()),
      hosts.onDidChoose(() => {
        this.wanted = pageSize;
        this.reload();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.reload()),
    ];
    this.setContext();
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const s of this.subscriptions) s.dispose();
  }

  /** Reads everything anew, because the user wants it. */
  refresh(): void {
    this.hosts.states.retry(this.hosts.host);
    this.reload();
  }

  more(): void {
    this.wanted += pageSize;
    this.reload();
  }

  /** Shows what there is by now. */
  private reload(): void {
    this.setContext();
    this.elsewhere.reload();
    this.changed.fire();
  }

  /** The session that has the focus in the view. */
  get selected(): SessionRef | undefined {
    const node = this.view.selection[0];
    return node?.kind === 'session' ? refOfHeader(node.session) : undefined;
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    switch (node.kind) {
      case 'more': {
        const item = new vscode.TreeItem(vscode.l10n.t('More sessions…'));
        item.command = { command: 'sessions.view.more', title: vscode.l10n.t('More sessions…') };
        item.iconPath = new vscode.ThemeIcon('ellipsis');
        return item;
      }
      case 'group': {
        const at = this.surroundings();
        const name = node.by === 'agent' ? at.agentLabel(node.name) : node.name === '' ? vscode.l10n.t('No project') : label(node.name, 60);
        const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
        item.id = `${node.by}:${node.name}`;
        item.description = String(node.children.length);
        item.iconPath = new vscode.ThemeIcon(node.by === 'agent' ? 'hubot' : 'root-folder');
        item.contextValue = 'group';
        return item;
      }
      case 'remedy': {
        const item = new vscode.TreeItem(node.label);
        item.command = { command: node.command, title: node.label, arguments: [...(node.arguments ?? [])] };
        item.iconPath = new vscode.ThemeIcon(node.icon);
        return item;
      }
      case 'session':
        return this.sessionItem(node);
    }
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (node !== undefined) return node.kind === 'more' || node.kind === 'remedy' ? [] : [...node.children];
    const { host } = this.hosts;
    if (!isLocal(host) && this.connection.state !== 'failed') {
      const rows = this.elsewhere.rows(host);
      this.view.message = this.elsewhere.text(host);
      return [...rows];
    }
    this.view.message = '';
    if (this.connection.status?.enabled !== true || !this.connection.supports('listSessions')) return [];
    try {
      return await this.sessions(localHost);
    } catch (error) {
      if (!(error instanceof ServerGone)) reportFailure(error);
      return [];
    }
  }

  /** The newest sessions, with the sub-agents of those. */
  private async sessions(host: string, token?: vscode.CancellationToken): Promise<TreeNode[]> {
    const filters: Filters = { relations: ['root', 'fork', 'continuation'] };
    const folders = vscode.workspace.workspaceFolders ?? [];
    // A path of this machine says little about another one: there all projects are listed.
    if (isLocal(host) && setting('view.where') === 'workspace' && folders.length > 0) filters.scopePaths = folders.map((f) => f.uri.fsPath);
    const where = hosted(host);
    const page = await this.connection.request('listSessions', { ...where, filters, sort: 'updatedAt', limit: Math.min(this.wanted, 1000) }, token);
    const parents = page.sessions.map((s) => s.sessionId);
    if (parents.length === 0) return [];
    const below = await this.connection.request('listSessions', { ...where, filters: { relations: ['subagent'], parents }, sort: 'updatedAt', limit: 1000 }, token);
    const nodes: TreeNode[] = [...arrange([...page.sessions, ...below.sessions], setting('view.groupBy'))];
    if (page.page.hasMore) nodes.push({ kind: 'more' });
    return nodes;
  }

  private sessionItem(node: SessionNode): vscode.TreeItem {
    const { session } = node;
    const at = this.surroundings();
    const item = new vscode.TreeItem(
      label(session.title, 120),
      node.children.length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
    );
    item.id = sessionKey(session);
    item.description = shortDescription(session, at, setting('view.groupBy'));
    item.iconPath = new vscode.ThemeIcon(sessionIcon(session), session.active ? new vscode.ThemeColor('charts.green') : undefined);
    item.tooltip = tooltip(session, at);
    const local = isLocal(session.executionHostId ?? localHost);
    item.contextValue = `session;${session.presence};${session.parentSessionId === null ? 'root' : 'child'};${local ? 'local' : 'elsewhere'}`;
    item.command = { command: 'sessions.open', title: vscode.l10n.t('Open Transcript'), arguments: [refOfHeader(session)] };
    const host = local ? '' : at.hostName(session.executionHostId ?? localHost);
    const spoken = [host, session.active ? vscode.l10n.t('live') : '', label(session.title, 120), sessionDescription(session, at)];
    item.accessibilityInformation = { label: spoken.filter((s) => s !== '').join(', ') };
    return item;
  }

  private statusChanged(status: Status): void {
    const done = percent(status);
    this.view.badge = status.phase === 'indexing' && status.enabled && !this.hosts.isRemote
      ? { value: Math.max(1, done ?? 1), tooltip: done === undefined ? vscode.l10n.t('Indexing sessions') : vscode.l10n.t('Indexing sessions {0} %', done) }
      : undefined;
    const look = JSON.stringify([status.enabled, status.decided, status.generation]);
    if (look === this.shown) return;
    const policyChanged = !this.shown.startsWith(JSON.stringify([status.enabled, status.decided]).slice(0, -1));
    this.shown = look;
    this.setContext();
    // What is indexed here changes nothing in the list of another host.
    if (this.hosts.isRemote) return;
    if (policyChanged) this.changed.fire();
    else {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.changed.fire();
      }, refreshInterval);
    }
  }

  private stateChanged(): void {
    this.shown = ''; // the next status counts, even if it is the same as before
    this.setContext();
    if (this.connection.state === 'running' || this.connection.state === 'failed') this.reload();
  }

  /** For the welcome texts and the buttons of the view. */
  private setContext(): void {
    const { status, state } = this.connection;
    const set = (key: string, value: unknown): void => void vscode.commands.executeCommand('setContext', `sessions.${key}`, value);
    set('state', state);
    const { host, isRemote } = this.hosts;
    // Alone in its container a view shows no description; the message above the rows says it, too.
    this.view.description = isRemote ? this.hosts.name(host) : '';
    if (isRemote) this.view.badge = undefined;
    set('remote', isRemote);
    set('searchable', isRemote || status?.enabled === true);
    set('enabled', status?.enabled ?? false);
    set('decided', status?.decided ?? false);
    set('groupBy', setting('view.groupBy'));
    set('viewWhere', setting('view.where'));
  }
}

function tooltip(s: Header, at: Surroundings): vscode.MarkdownString {
  const text = new vscode.MarkdownString('', true);
  const line = (name: string, value: string | null): void => {
    if (value !== null && value !== '') text.appendMarkdown('\n\n').appendText(`${name}: ${oneLine(value, 200)}`);
  };
  text.appendText(oneLine(s.title, 200));
  if (!isLocal(s.executionHostId ?? localHost)) line(vscode.l10n.t('Host'), at.hostName(s.executionHostId ?? localHost));
  line(vscode.l10n.t('Agent'), at.agentLabel(s.agent));
  line(vscode.l10n.t('Folder'), s.cwd);
  line(vscode.l10n.t('Branch'), s.branch);
  line(vscode.l10n.t('Model'), s.model);
  line(vscode.l10n.t('Messages'), String(s.messageCount));
  line(vscode.l10n.t('Started'), s.createdAt === null ? null : new Date(s.createdAt).toLocaleString(at.locale));
  line(vscode.l10n.t('Last active'), s.updatedAt === null ? null : new Date(s.updatedAt).toLocaleString(at.locale));
  line(vscode.l10n.t('Relation'), s.relation === 'root' ? null : s.relation);
  if (s.presence === 'missing') line(vscode.l10n.t('Transcript'), vscode.l10n.t('deleted; this is the kept copy'));
  line(vscode.l10n.t('ID'), s.sessionId);
  return text;
}
