// What the view shows of another host. Its sessions may be long in coming, so they are
// asked for beside the view, which meanwhile says so and is empty, not full of those of
// the host before.

import * as vscode from 'vscode';
import { withToken } from '../cancel';
import { errorCode } from '../contract';
import { enableCommand } from '../hosts/host';
import type { Hosts } from '../hosts/hosts';
import { AskingStopped } from '../hosts/states';
import { ServerGone } from '../server/connection';
import { oneLine } from '../words';

/** A row that helps when a host has nothing to show. */
export interface RemedyNode {
  readonly kind: 'remedy';
  readonly label: string;
  readonly icon: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

interface Rows<N> {
  readonly host: string;
  readonly nodes: readonly (N | RemedyNode)[];
  /** Said above them. */
  readonly text: string;
}

export interface ElsewhereOptions<N> {
  /** The view that shows how long it takes. */
  readonly viewId: string;
  /** The sessions of a host that can be reached. */
  list(host: string, token: vscode.CancellationToken): Promise<readonly N[]>;
  /** There is something else to show. */
  changed(): void;
}

export class Elsewhere<N> implements vscode.Disposable {
  private current: Rows<N> | undefined;
  /** Ends what is under way for the present rows: asking for them, and following their host until it has settled. */
  private turn = new AbortController();
  private loading = false;
  private stale = true;
  /** The generation of the host's index that the rows are of. */
  private generation: number | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly hosts: Hosts,
    private readonly options: ElsewhereOptions<N>,
  ) {
    this.subscription = hosts.onDidChangeState((host) => {
      const status = hosts.states.status(host);
      if (host !== this.current?.host || status === undefined || this.generation === undefined || this.generation === status.generation) return;
      this.reload();
      options.changed();
    });
  }

  dispose(): void {
    this.subscription.dispose();
    this.turn.abort();
  }

  /** The rows as they are to be read anew when the view next asks for them. */
  reload(): void {
    this.turn.abort();
    this.turn = new AbortController();
    this.loading = false;
    this.stale = true;
  }

  /** The rows of a host, as far as they have come. */
  rows(host: string): readonly (N | RemedyNode)[] {
    if (this.current?.host !== host) this.current = undefined;
    if (this.stale && !this.loading) this.load(host);
    return this.current?.nodes ?? [];
  }

  /** What is to be said above the rows. */
  text(host: string): string {
    if (this.current?.host === host) return this.current.text;
    return vscode.l10n.t('Asking {0}. The first answer may take up to half a minute.', this.hosts.name(host));
  }

  private load(host: string): void {
    this.loading = true;
    this.stale = false;
    this.generation = undefined;
    const { signal } = this.turn;
    const loaded = this.fetch(host, signal).then((rows) => {
      if (this.turn.signal !== signal) return;
      this.loading = false;
      // Without rows the service is being started again, and then asked again.
      if (rows === undefined) return;
      this.current = rows;
      this.options.changed();
    });
    void vscode.window.withProgress({ location: { viewId: this.options.viewId } }, () => loaded);
  }

  private async fetch(host: string, signal: AbortSignal): Promise<Rows<N> | undefined> {
    const name = this.hosts.name(host);
    try {
      await this.hosts.reach(host, signal);
      const nodes = await withToken(signal, (token) => this.options.list(host, token));
      if (this.turn.signal === signal) {
        this.generation = this.hosts.states.status(host)?.generation;
        void this.hosts.settle(host, signal);
      }
      if (nodes.length > 0) return { host, nodes, text: vscode.l10n.t('Sessions on {0}', name) };
      return { host, nodes: remedies(host, 'empty'), text: vscode.l10n.t('No session was found on {0} yet.', name) };
    } catch (error) {
      if (error instanceof ServerGone) return undefined;
      if (!(error instanceof AskingStopped)) this.hosts.states.retry(host);
      const disabled = errorCode(error) === 'SESSION_QUERY_SEARCH_DISABLED';
      return { host, nodes: remedies(host, disabled ? 'disabled' : 'failed'), text: oneLine(error instanceof Error ? error.message : String(error), 1000) };
    }
  }
}

function remedies(host: string, why: 'empty' | 'disabled' | 'failed'): RemedyNode[] {
  const { t } = vscode.l10n;
  const remedy = (label: string, icon: string, command: string, ...args: readonly unknown[]): RemedyNode => ({ kind: 'remedy', label, icon, command, arguments: args });
  const enable = why === 'disabled' ? enableCommand(host) : undefined;
  return [
    ...(enable === undefined ? [] : [remedy(t('Copy: {0}', enable), 'copy', 'sessions.copyText', enable)]),
    remedy(why === 'empty' ? t('Refresh') : t('Retry'), 'refresh', 'sessions.view.refresh'),
    remedy(t('Choose Another Host…'), 'remote', 'sessions.chooseHost'),
    ...(why === 'failed' ? [remedy(t('Show Log'), 'output', 'sessions.showLog')] : []),
  ];
}
