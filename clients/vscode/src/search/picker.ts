// The list that searches while you type.

import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { Consent } from '../consent';
import { type Hit, sessionKey } from '../contract';
import { type Connection, ServerGone } from '../server/connection';
import type { SessionActions } from '../session/actions';
import { type Place, refOfHit } from '../session/ref';
import { setting } from '../settings';
import { type ActionButton, type RowAction, type Toggle, type ToggleButton, toggleButtons } from './buttons';
import { type Item, itemsOf, type Offers } from './items';
import { type Choices, SearchModel, type SearchState } from './model';
import { matchedWords, type Surroundings, titleWords } from './rows';

export interface PickerOptions {
  readonly query?: string;
  readonly choices?: Partial<Choices>;
}

export interface PickerDependencies {
  readonly connection: Connection;
  readonly consent: Consent;
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
  private refresh: NodeJS.Timeout | undefined;

  constructor(
    private readonly deps: PickerDependencies,
    options: PickerOptions = {},
  ) {
    const { connection } = deps;
    this.model = new SearchModel(
      {
        ask: (request, signal) => withToken(signal, (token) => connection.request('searchSessions', request, token)),
        changed: (state) => this.show(state),
        isPassing: (error) => error instanceof ServerGone && connection.state !== 'failed',
        delay: setting('search.delay'),
        pageSize: setting('search.pageSize'),
        freshness: setting('search.freshness'),
        host: setting('host'),
      },
      {
        scopePaths: setting('search.where') === 'workspace' ? workspacePaths() : [],
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
      connection.onDidChangeStatus((status) => this.indexMoved(status.generation)),
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
    this.model.dispose();
    for (const s of this.subscriptions.splice(0)) s.dispose();
    this.closed.fire();
    this.closed.dispose();
  }

  /** Does something with the row that has the focus. */
  async actOnActive(action: RowAction): Promise<void> {
    const item = this.pick.activeItems[0];
    if (item?.shows === 'hit') await this.act(action, item.hit);
  }

  async toggle(toggle: Toggle): Promise<void> {
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
    }
  }

  /** Brings the list up to the state of the search. Only what has changed is set: each setting is a message to the window. */
  private show(state: SearchState): void {
    const { pick } = this;
    const at = this.deps.surroundings();
    pick.busy = state.busy;
    const title = titleWords(state, at);
    if (pick.title !== title) pick.title = title;
    const hasWorkspace = workspacePaths().length > 0;
    const toggles = JSON.stringify([state.choices, hasWorkspace]);
    if (this.shownToggles !== toggles) {
      this.shownToggles = toggles;
      pick.buttons = toggleButtons(state.choices, hasWorkspace);
    }
    // While an answer is on its way the old rows stay.
    if (state.busy && (this.shown === undefined || state.hits === this.shown.hits)) return;
    const { shown } = this;
    this.shown = state;
    // The same answer again changes nothing, above all not the row that the arrows have reached meanwhile.
    if (shown !== undefined && state.hits.length > 0 && answerKeys.every((key) => isDeepStrictEqual(shown[key], state[key]))) return;
    const active = pick.activeItems[0];
    const items = itemsOf(state, this.deps.connection.status, at, this.offers);
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

  private async chooseAgents(): Promise<void> {
    const agents = this.deps.connection.status?.agents ?? [];
    const { choices } = this.model.state;
    this.suspended = true;
    const picked = await vscode.window.showQuickPick(
      agents.map((a) => ({
        label: a.label,
        description: vscode.l10n.t('{0} sessions', a.sessions),
        agent: a.agent,
        picked: choices.agents.length === 0 || choices.agents.includes(a.agent),
      })),
      { canPickMany: true, title: vscode.l10n.t('Sessions of which agents?') },
    );
    this.suspended = false;
    this.pick.show();
    if (picked === undefined) return;
    const all = picked.length === 0 || picked.length === agents.length;
    this.model.choose({ agents: all ? [] : picked.map((p) => p.agent) });
  }
}

/** Runs with a cancellation token that follows a signal. */
async function withToken<T>(signal: AbortSignal, run: (token: vscode.CancellationToken) => Promise<T>): Promise<T> {
  const source = new vscode.CancellationTokenSource();
  const abort = (): void => source.cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await run(source.token);
  } finally {
    signal.removeEventListener('abort', abort);
    source.dispose();
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
