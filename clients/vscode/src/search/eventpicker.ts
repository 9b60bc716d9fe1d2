// Search within one session: a list of its events that match.

import * as vscode from 'vscode';
import type { EventHit } from '../contract';
import { withToken } from '../cancel';
import { isLocal } from '../hosts/host';
import type { Hosts } from '../hosts/hosts';
import { wrapped } from '../hosts/words';
import { type Connection, ServerGone } from '../server/connection';
import type { SessionActions } from '../session/actions';
import { named, type SessionRef } from '../session/ref';
import { setting } from '../settings';
import { label, oneLine } from '../words';
import { literalHit } from './literal';
import { eventRow, matchedWords, type Surroundings } from './rows';

interface EventItem extends vscode.QuickPickItem {
  readonly event?: EventHit;
  /** What the row does when it is accepted, if it is no event. */
  readonly accept?: () => void;
}

/** So many events are listed; a session seldom has more that match. */
const most = 200;

export class EventPicker {
  private readonly pick = vscode.window.createQuickPick<EventItem>();
  private running: AbortController | undefined;
  /** Ends with the list. */
  private readonly closed = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly hosts: Hosts,
    private readonly actions: SessionActions,
    private readonly surroundings: () => Surroundings,
    private readonly ref: SessionRef,
  ) {}

  /** Resolves when the list is closed. */
  open(query: string): Promise<void> {
    const { pick } = this;
    const { host } = this.ref;
    const title = oneLine(this.ref.title ?? this.ref.sessionId, 80);
    pick.title = isLocal(host) ? vscode.l10n.t('Search in: {0}', title) : vscode.l10n.t('Search in: {0} – on {1}', title, this.hosts.name(host));
    pick.placeholder = vscode.l10n.t('Words of this session');
    (pick as unknown as { sortByLabel: boolean }).sortByLabel = false;
    pick.value = query;
    const closed = new Promise<void>((resolve) => {
      pick.onDidHide(() => {
        clearTimeout(this.timer);
        this.closed.abort();
        this.running?.abort();
        pick.dispose();
        resolve();
      });
    });
    pick.onDidChangeValue(() => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.search(), setting('search.delay'));
    });
    pick.onDidAccept(() => {
      const item = pick.activeItems[0];
      item?.accept?.();
      const event = item?.event;
      if (event === undefined) return;
      const query = pick.value;
      pick.hide();
      void this.actions.open(this.ref, { seq: event.seq, words: matchedWords(event), query });
    });
    pick.show();
    void this.search();
    return closed;
  }

  private async search(): Promise<void> {
    const { pick } = this;
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const query = pick.value.trim();
    if (query === '') {
      pick.items = [];
      return;
    }
    pick.busy = true;
    try {
      const hits = await this.ask(query, running.signal);
      if (running.signal.aborted) return;
      const at = this.surroundings();
      pick.items =
        hits.length > 0
          ? hits.map((event) => ({ ...eventRow(event, at), alwaysShow: true, event }))
          : [{ label: `$(search-stop) ${vscode.l10n.t('Nothing in this session matches')}`, alwaysShow: true }];
    } catch (error) {
      if (running.signal.aborted || error instanceof vscode.CancellationError) return;
      const text = error instanceof ServerGone ? error.message : error instanceof Error ? error.message : String(error);
      pick.items = isLocal(this.ref.host) ? [{ label: `$(error) ${label(text)}`, alwaysShow: true }] : this.hostProblem(text);
    } finally {
      if (this.running === running) pick.busy = false;
    }
  }

  /** Events by the index where the server has that, else by their literal text. */
  private async ask(query: string, signal: AbortSignal): Promise<readonly EventHit[]> {
    const { connection, hosts, ref } = this;
    // Not by the search itself, which the next key cancels.
    await hosts.reach(ref.host, this.closed.signal);
    if (signal.aborted) throw new vscode.CancellationError();
    return withToken(signal, async (token) => {
      if (connection.supports('searchEvents')) return (await connection.request('searchEvents', { ...named(ref), query, limit: most }, token)).hits;
      const answer = await connection.request('filterEvents', { ...named(ref), text: query, limit: most }, token);
      return answer.events.map((event) => literalHit(event, query));
    });
  }

  private hostProblem(text: string): EventItem[] {
    const lines = wrapped(label(text, 1000), 84);
    return [
      ...lines.map((line, i): EventItem => ({ label: `$(${i === 0 ? 'error' : 'blank'}) ${line}`, alwaysShow: true })),
      {
        label: `$(refresh) ${vscode.l10n.t('Retry')}`,
        alwaysShow: true,
        accept: () => {
          this.hosts.states.retry(this.ref.host);
          void this.search();
        },
      },
    ];
  }
}
