// The list that searches while you type.

import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { Consent } from '../consent';
import { type Hit, type SearchSessionsRequest, type SearchSessionsResponse, sessionKey } from '../contract';
import { withToken } from '../cancel';
import { isLocal } from '../hosts/host';
import type { Hosts } from '../hosts/hosts';
import { HostPicker } from '../hosts/picker';
import { type Connection, ServerGone } from '../server/connection';
import type { SessionActions } from '../session/actions';
import { type Place, refOfHit } from '../session/ref';
import { setting } from '../settings';
import { type ActionButton, type RowAction, type Toggle, type ToggleButton, toggleButtons } from './buttons';
import { type Item, itemsOf, type Offers, waitingItems } from './items';
import { type Choices, SearchModel, type SearchState } from './model';
import { oneLine } from '../words';
import { matchedWords, type Surroundings, titleWords } from './rows';

export interface PickerOptions {
  readonly query?: string;
  readonly choices?: Partial<Choices>;
}

export interface PickerDependencies {
  readonly connection: Connection;
  readonly consent: Consent;
  readonly hosts: Hosts;
  readonly actions: SessionActions;
  readonly surroundings: () => Surroundings;
}

/** The context key that says the list is open, for the keys of its rows. */
const openKey = 'sessions.searchOpen';

/** The parts of the state that the rows show. */
const answerKeys = ['answered', 'hits', 'hasMore', 'diagnostics', 'truncated', 'problem'] as const;

/** So many rows before the end the next page is asked for. */
const readAhead = 5;

/** An open list follows the index at most that often, in milliseconds. */
const refreshInterval = 1000;

export class SearchPicker implements vscode.Disposable {
  private readonly pick = vscode.window.createQuickPick<Item>();
  private readonly model: SearchModel;
  private readonly subscriptions: vscode.Disposable[];
  private readonly closed = new vscode.EventEmitter<void>();
  readonly onDidClose = this.closed.event;
  /** What the rows show. */
  private shown: SearchState | undefined;
  private shownToggles = '';
  /** Another list lies above this one for a moment. */
  private suspended = false;
  private generation: number | undefined;
  /** Ends with the list, or when another host is chosen. */
  private reaching = new AbortController();
  /** The signal under which the host is followed until it has settled. */
  private settling: AbortSignal | undefined;
  /** The host that the rows say is being asked. */
  private waitsFor: string | undefined;
  private refresh: NodeJS.Timeout | undefined;

  constructor(
    private readonly deps: PickerDependencies,
    options: PickerOptions = {},
  ) {
    const { connection, hosts } = deps;
    const { host } = hosts;
    this.model = new SearchModel(
      {
        ask: (request, signal) => this.ask(request, signal),
        changed: (state) => this.show(state),
        isPassing: (error) => error instanceof ServerGone && connection.state !== 'failed',
        delay: setting('search.delay'),
        pageSize: setting('search.pageSize'),
        freshness: setting('search.freshness'),
      },
      {
        host,
        scopePaths: this.firstPaths(host),
        scope: setting('search.scope'),
        sort: setting('search.sort'),
        agents: [],
        ...options.choices,
      },
      options.query,
    );
    const { pick } = this;
    pick.placeholder = vscode.l10n.t('What was said? Words, "exact phrase", not:word, agent: repo: file: since:7d …');
    pick.keepScrollPosition = true;
    // The server has matched and ordered already. Without this rows whose title
    // holds the query would be moved up; the property is not in the declared API.
    (pick as unknown as { sortByLabel: boolean }).sortByLabel = false;
    this.subscriptions = [
      pick,
      pick.onDidChangeValue((value) => this.model.type(value)),
      pick.onDidChangeActive((items) => this.reached(items[0])),
      pick.onDidAccept(() => void this.accept()),
      pick.onDidTriggerItemButton(({ item, button }) => {
        if (item.shows === 'hit') void this.act((button as ActionButton).action, item.hit);
      }),
      pick.onDidTriggerButton((button) => void this.toggle((button as ToggleButton).toggle)),
      pick.onDidHide(() => {
        if (!this.suspended) this.dispose();
      }),
      // A search that was under way when the server ended is asked again.
      connection.onDidChangeState((state) => {
        if (state === 'running' || state === 'failed') void this.model.again();
      }),
      connection.onDidChangeStatus((status) => {
        if (isLocal(this.model.state.choices.host)) this.indexMoved(status.generation);
      }),
      hosts.onDidChoose((chosen) => this.moveTo(chosen)),
      hosts.onDidChangeState((changed) => {
        const status = hosts.states.status(changed);
        if (changed === this.model.state.choices.host && status !== undefined) this.indexMoved(status.generation);
      }),
    ];
  }

  open(): void {
    void vscode.commands.executeCommand('setContext', openKey, true);
    this.pick.value = this.model.state.query;
    this.pick.show();
    void this.model.again();
  }

  dispose(): void {
    void vscode.commands.executeCommand('setContext', openKey, false);
    clearTimeout(this.refresh);
    this.reaching.abort();
    this.model.dispose();
    for (const s of this.subscriptions.splice(0)) s.dispose();
    this.closed.fire();
    this.closed.dispose();
  }

  /** Does something with the row that has the focus. */
  async actOnActive(action: RowAction): Promise<void> {
    const item = this.suspended ? undefined : this.pick.activeItems[0];
    if (item?.shows === 'hit') await this.act(action, item.hit);
  }

  async toggle(toggle: Toggle): Promise<void> {
    if (this.suspended) return;
    const { choices } = this.model.state;
    switch (toggle) {
      case 'where':
        this.model.choose({ scopePaths: choices.scopePaths.length > 0 ? [] : workspacePaths() });
        break;
      case 'scope':
        this.model.choose({ scope: choices.scope === 'all' ? 'conversation' : 'all' });
        break;
      case 'sort':
        this.model.choose({ sort: choices.sort === 'relevance' ? 'newest' : 'relevance' });
        break;
      case 'agents':
        await this.chooseAgents();
        break;
      case 'host':
        await this.chooseHost();
        break;
    }
  }

  /** Asks for a page. Another host is reached first, by a request that lives as long as the list: the searches themselves are cancelled with every key. */
  private async ask(request: SearchSessionsRequest, signal: AbortSignal): Promise<SearchSessionsResponse> {
    const { connection, hosts } = this.deps;
    const { executionHost: host } = request;
    if (host !== undefined) {
      const { signal: open } = this.reaching;
      await hosts.reach(host, open);
      if (this.settling !== open) void hosts.settle(host, open);
      this.settling = open;
    }
    if (signal.aborted) throw new vscode.CancellationError();
    try {
      return await withToken(signal, (token) => connection.request('searchSessions', request, token));
    } catch (error) {
      if (host !== undefined && !(error instanceof vscode.CancellationError)) hosts.states.retry(host);
      throw error;
    }
  }

  /** Where a search begins to look. On another host the paths of this machine mean little, so everywhere. */
  private firstPaths(host: string): string[] {
    return isLocal(host) && setting('search.where') === 'workspace' ? workspacePaths() : [];
  }

  private async chooseHost(): Promise<void> {
    const { hosts } = this.deps;
    const chosen = await this.aside(() => HostPicker.show(hosts));
    if (chosen === undefined) return;
    const same = chosen.host === this.model.state.choices.host;
    await hosts.choose(chosen);
    if (same) this.offers.retry();
  }

  /** Another host was chosen, here or elsewhere. Its agents may be others. */
  private moveTo(host: string): void {
    this.reaching.abort();
    this.reaching = new AbortController();
    this.generation = undefined; // that was of another index
    this.model.choose({ host, scopePaths: this.firstPaths(host), agents: [] });
  }

  /** Brings the list up to the state of the search. Only what has changed is set: each setting is a message to the window. */
  private show(state: SearchState): void {
    const { pick } = this;
    const at = this.deps.surroundings();
    pick.busy = state.busy;
    const title = titleWords(state, at);
    if (pick.title !== title) pick.title = title;
    const { host } = state.choices;
    const hasWorkspace = workspacePaths().length > 0;
    const toggles = JSON.stringify([state.choices, hasWorkspace]);
    if (this.shownToggles !== toggles) {
      this.shownToggles = toggles;
      pick.buttons = toggleButtons(state.choices, hasWorkspace, (h) => at.hostName(h));
    }
    // A host that was not reached yet may take long; the list says so instead of being empty.
    const waiting = state.busy && state.answered === undefined && !isLocal(host) && !this.deps.hosts.states.isReached(host);
    if (waiting) {
      if (this.waitsFor !== host) pick.items = waitingItems(host, at, this.offers);
      this.waitsFor = host;
      this.shown = undefined;
      return;
    }
    this.waitsFor = undefined;
    // While an answer is on its way the old rows stay.
    if (state.busy && (this.shown === undefined || state.hits === this.shown.hits)) return;
    const { shown } = this;
    this.shown = state;
    // The same answer again changes nothing, above all not the row that the arrows have reached meanwhile.
    if (shown !== undefined && state.hits.length > 0 && answerKeys.every((key) => isDeepStrictEqual(shown[key], state[key]))) return;
    const active = pick.activeItems[0];
    const items = itemsOf(state, this.deps.hosts.status(host), at, this.offers);
    pick.items = items;
    // Said each time: what was active before is remembered by its place in the list, also when the list is another one by now.
    const chosen = this.begin(items, shown?.answered === state.answered ? active : undefined);
    if (chosen !== undefined) pick.activeItems = [chosen];
  }

  /** The row that new rows begin at. */
  private begin(items: readonly Item[], before: Item | undefined): Item | undefined {
    // A row that was chosen stays chosen when the same question is answered anew or
    // goes on; another question begins at its best row.
    if (before?.shows === 'hit') {
      const key = sessionKey(before.hit);
      const again = items.find((i) => i.shows === 'hit' && sessionKey(i.hit) === key);
      if (again !== undefined) return again;
    }
    // Enter does what is offered, even below a row that only says something.
    return items.find((i) => i.shows === 'hit') ?? items.find((i) => i.shows === 'offer');
  }

  private readonly offers: Offers = {
    enable: () => {
      this.pick.busy = true;
      void this.deps.consent.enable().then(() => this.model.again());
    },
    notNow: () => {
      void this.deps.consent.notNow();
      this.pick.hide();
    },
    restart: () => void this.deps.connection.restart(),
    more: () => void this.model.more(),
    everywhere: () => this.model.choose({ scopePaths: [] }),
    allText: () => this.model.choose({ scope: 'all' }),
    allAgents: () => this.model.choose({ agents: [] }),
    retype: (query) => {
      this.pick.value = query;
      this.model.type(query);
    },
    retry: () => {
      this.deps.hosts.states.retry(this.model.state.choices.host);
      this.model.choose({});
    },
    anotherHost: () => void this.chooseHost(),
    showLog: () => {
      this.pick.hide();
      void vscode.commands.executeCommand('sessions.showLog');
    },
    copy: (text) => void vscode.env.clipboard.writeText(text).then(() => vscode.window.setStatusBarMessage(`$(check) ${vscode.l10n.t('Copied: {0}', oneLine(text, 100))}`, 4000)),
  };

  /** The query that the rows answer; a newer one may be on its way. */
  private get answered(): string {
    return this.shown?.answered ?? '';
  }

  private async accept(): Promise<void> {
    const item = this.pick.activeItems[0];
    if (item?.shows === 'offer') item.accept();
    if (item?.shows !== 'hit') return;
    const place = placeOf(item.hit, this.answered);
    this.pick.hide();
    await this.deps.actions.open(refOfHit(item.hit), place);
  }

  private async act(action: RowAction, hit: Hit): Promise<void> {
    const ref = refOfHit(hit);
    const query = this.answered;
    const { actions } = this.deps;
    switch (action) {
      case 'resume':
        this.pick.hide();
        await actions.resume(ref);
        break;
      case 'copyResume':
        await actions.copyResumeCommand(ref);
        break;
      case 'copyId':
        await actions.copyId(ref);
        break;
      case 'reveal':
        this.pick.hide();
        await actions.revealFile(ref);
        break;
      case 'openBeside':
        this.pick.hide();
        await actions.open(ref, placeOf(hit, query), { beside: true });
        break;
      case 'searchIn':
        this.pick.hide();
        await actions.searchIn(ref, query);
        break;
    }
  }

  /** Near the end of the list the next page is fetched. */
  private reached(item: Item | undefined): void {
    if (item === undefined) return;
    const index = this.pick.items.indexOf(item);
    if (index > 0 && index >= this.pick.items.length - readAhead) void this.model.more();
  }

  /** The index has moved: ask again, unless the user is beyond the first page. */
  private indexMoved(generation: number): void {
    const before = this.generation;
    this.generation = generation;
    if (before === undefined || before === generation) return;
    this.refresh ??= setTimeout(() => {
      this.refresh = undefined;
      const { busy, hits } = this.model.state;
      if (!busy && hits.length <= setting('search.pageSize')) void this.model.again();
    }, refreshInterval);
  }

  /** Shows another list above this one, which then comes back. */
  private async aside<T>(show: () => Thenable<T>): Promise<T> {
    this.suspended = true;
    try {
      return await show();
    } finally {
      this.suspended = false;
      this.pick.show();
    }
  }

  private async chooseAgents(): Promise<void> {
    const { choices } = this.model.state;
    const agents = this.deps.hosts.status(choices.host)?.agents ?? [];
    const picked = await this.aside(() =>
      vscode.window.showQuickPick(
        agents.map((a) => ({
          label: a.label,
          description: vscode.l10n.t('{0} sessions', a.sessions),
          agent: a.agent,
          picked: choices.agents.length === 0 || choices.agents.includes(a.agent),
        })),
        { canPickMany: true, title: vscode.l10n.t('Sessions of which agents?') },
      ),
    );
    if (picked === undefined) return;
    const all = picked.length === 0 || picked.length === agents.length;
    this.model.choose({ agents: all ? [] : picked.map((p) => p.agent) });
  }
}

function placeOf(hit: Hit, query: string): Place {
  const { evidence } = hit;
  if (evidence === null) return {};
  return { words: matchedWords(evidence), query, ...(evidence.seq === null ? {} : { seq: evidence.seq }) };
}

function workspacePaths(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((f) => f.uri.fsPath);
}
