// Search within one session: a list of its events that match.

import * as vscode from 'vscode';
import type { EventHit } from '../contract';
import { type Connection, ServerGone } from '../server/connection';
import type { SessionActions } from '../session/actions';
import { named, type SessionRef } from '../session/ref';
import { setting } from '../settings';
import { label, oneLine } from '../words';
import { literalHit } from './literal';
import { eventRow, matchedWords, type Surroundings } from './rows';

interface EventItem extends vscode.QuickPickItem {
  readonly event?: EventHit;
}

/** So many events are listed; a session seldom has more that match. */
const most = 200;

export class EventPicker {
  private readonly pick = vscode.window.createQuickPick<EventItem>();
  private source: vscode.CancellationTokenSource | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly actions: SessionActions,
    private readonly surroundings: () => Surroundings,
    private readonly ref: SessionRef,
  ) {}

  /** Resolves when the list is closed. */
  open(query: string): Promise<void> {
    const { pick } = this;
    pick.title = vscode.l10n.t('Search in: {0}', oneLine(this.ref.title ?? this.ref.sessionId, 80));
    pick.placeholder = vscode.l10n.t('Words of this session');
    (pick as unknown as { sortByLabel: boolean }).sortByLabel = false;
    pick.value = query;
    const closed = new Promise<void>((resolve) => {
      pick.onDidHide(() => {
        clearTimeout(this.timer);
        this.source?.cancel();
        this.source?.dispose();
        pick.dispose();
        resolve();
      });
    });
    pick.onDidChangeValue(() => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.search(), setting('search.delay'));
    });
    pick.onDidAccept(() => {
      const event = pick.activeItems[0]?.event;
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
    this.source?.cancel();
    this.source?.dispose();
    const source = new vscode.CancellationTokenSource();
    this.source = source;
    const query = pick.value.trim();
    if (query === '') {
      pick.items = [];
      return;
    }
    pick.busy = true;
    try {
      const hits = await this.ask(query, source.token);
      if (source.token.isCancellationRequested) return;
      const at = this.surroundings();
      pick.items =
        hits.length > 0
          ? hits.map((event) => ({ ...eventRow(event, at), alwaysShow: true, event }))
          : [{ label: `$(search-stop) ${vscode.l10n.t('Nothing in this session matches')}`, alwaysShow: true }];
    } catch (error) {
      if (source.token.isCancellationRequested || error instanceof vscode.CancellationError) return;
      const text = error instanceof ServerGone ? error.message : error instanceof Error ? error.message : String(error);
      pick.items = [{ label: `$(error) ${label(text)}`, alwaysShow: true }];
    } finally {
      if (this.source === source) pick.busy = false;
    }
  }

  /** Events by the index where the server has that, else by their literal text. */
  private async ask(query: string, token: vscode.CancellationToken): Promise<readonly EventHit[]> {
    if (this.connection.supports('searchEvents')) {
      return (await this.connection.request('searchEvents', { ...named(this.ref), query, limit: most }, token)).hits;
    }
    const answer = await this.connection.request('filterEvents', { ...named(this.ref), text: query, limit: most }, token);
    return answer.events.map((event) => literalHit(event, query));
  }
}
