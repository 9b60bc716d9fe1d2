// The search as you type, without an editor: which request goes out when, which
// answer still counts, what is shown meanwhile.

import { hosted } from '../hosts/host';
import {
  type Diagnostic,
  type Filters,
  type Freshness,
  type Hit,
  type Scope,
  type SearchResults,
  type SearchSessionsRequest,
  type SearchSessionsResponse,
  sessionKey,
  type Sort,
} from '../contract';

/** What the user may choose beside the text. */
export interface Choices {
  /** 'local', or another execution host. */
  readonly host: string;
  /** Folders of the workspace; empty = everywhere. */
  readonly scopePaths: readonly string[];
  readonly scope: Scope;
  readonly sort: Sort;
  /** Empty = all. */
  readonly agents: readonly string[];
}

export type Problem =
  | { readonly kind: 'unavailable'; readonly reason: 'disabled' | 'not-ready' | 'no-service' }
  | { readonly kind: 'error'; readonly message: string };

export interface SearchState {
  readonly query: string;
  /** What the hits below answer; differs from query while an answer is on its way. */
  readonly answered: string | undefined;
  readonly choices: Choices;
  readonly hits: readonly Hit[];
  readonly hasMore: boolean;
  readonly busy: boolean;
  readonly total: SearchResults['total'] | undefined;
  readonly truncated: SearchResults['truncated'] | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly durationMs: number | undefined;
  readonly problem: Problem | undefined;
}

export interface SearchModelOptions {
  /** Asks the server. Rejects when the signal is aborted or the search failed. */
  ask(request: SearchSessionsRequest, signal: AbortSignal): Promise<SearchSessionsResponse>;
  changed(state: SearchState): void;
  /** An error that the service mends by itself; the search is then asked again from outside. */
  isPassing(error: unknown): boolean;
  /** At most one request in so many milliseconds while the user types. */
  readonly delay: number;
  readonly pageSize: number;
  readonly freshness: Freshness;
}

/** No answer. */
const nothing = {
  answered: undefined,
  hits: [],
  hasMore: false,
  total: undefined,
  truncated: undefined,
  diagnostics: [],
  durationMs: undefined,
  problem: undefined,
} satisfies Partial<SearchState>;

export class SearchModel {
  private current: SearchState;
  private cursor: string | undefined;
  /** The query of the request that runs. What is typed meanwhile waits for the next one. */
  private asked = '';
  private running: AbortController | undefined;
  private timer: NodeJS.Timeout | undefined;
  private sentAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly options: SearchModelOptions,
    choices: Choices,
    query = '',
  ) {
    this.current = {
      query,
      choices,
      busy: false,
      ...nothing,
    };
  }

  get state(): SearchState {
    return this.current;
  }

  /** The text was edited. The first key goes out at once, the following ones not too close together. */
  type(query: string): void {
    if (query === this.current.query && this.current.answered === query) return;
    this.update({ query, busy: true });
    clearTimeout(this.timer);
    const wait = this.sentAt + this.options.delay - performance.now();
    if (wait <= 0) void this.first();
    else this.timer = setTimeout(() => void this.first(), wait);
  }

  choose(choices: Partial<Choices>): void {
    // What another host has found is no answer of this one, also for the moment.
    const elsewhere = choices.host !== undefined && choices.host !== this.current.choices.host;
    if (elsewhere) this.cursor = undefined;
    this.update({ ...(elsewhere ? nothing : {}), choices: { ...this.current.choices, ...choices }, busy: true });
    void this.first();
  }

  /** Asks for page 1 again: the index has moved, the server is back. */
  async again(): Promise<void> {
    await this.first();
  }

  /** Asks for the next page, if there is one. */
  async more(): Promise<void> {
    if (this.cursor === undefined || this.current.busy) return;
    const { cursor } = this;
    const signal = this.begin();
    const answer = await this.answer(this.request(cursor), signal);
    if (answer === undefined) return;
    if (answer.kind === 'results') {
      const known = new Set(this.current.hits.map(sessionKey));
      const fresh = answer.hits.filter((hit) => !known.has(sessionKey(hit)));
      this.take(answer, [...this.current.hits, ...fresh]);
    } else if (answer.kind === 'unavailable') {
      this.refuse(answer.reason);
    } else {
      // A refused cursor stays refused: the index has moved, so begin anew, silently.
      await this.first();
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = undefined;
  }

  private async first(): Promise<void> {
    clearTimeout(this.timer);
    this.sentAt = performance.now();
    const signal = this.begin();
    const answer = await this.answer(this.request(undefined), signal);
    if (answer === undefined) return;
    if (answer.kind === 'results') this.take(answer, answer.hits);
    else if (answer.kind === 'unavailable') this.refuse(answer.reason);
    else this.fail(new Error('the server refused a first page'));
  }

  /** Cancels what is under way; its answer no longer counts. */
  private begin(): AbortSignal {
    this.running?.abort();
    this.asked = this.current.query;
    this.running = new AbortController();
    this.update({ busy: true });
    return this.running.signal;
  }

  /** The answer, or undefined if it no longer counts or was an error, which is then shown. */
  private async answer(request: SearchSessionsRequest, signal: AbortSignal): Promise<SearchSessionsResponse | undefined> {
    try {
      const answer = await this.options.ask(request, signal);
      return signal.aborted ? undefined : answer;
    } catch (error) {
      if (!signal.aborted && !this.options.isPassing(error)) this.fail(error);
      return undefined;
    }
  }

  private request(cursor: string | undefined): SearchSessionsRequest {
    const { query, choices } = this.current;
    const filters: Filters = { sort: choices.sort };
    if (choices.scopePaths.length > 0) filters.scopePaths = [...choices.scopePaths];
    if (choices.agents.length > 0) filters.agents = [...choices.agents];
    // Without any text the newest sessions are wanted; the contract gives them
    // when a clause constrains the search, and this one excludes nothing.
    if (query.trim() === '') filters.presence = ['present', 'unverifiable', 'missing'];
    return {
      query,
      scope: choices.scope,
      freshness: this.options.freshness,
      limit: this.options.pageSize,
      filters,
      ...(cursor === undefined ? {} : { cursor }),
      ...hosted(choices.host),
    };
  }

  private take(answer: SearchResults, hits: readonly Hit[]): void {
    this.cursor = answer.page.cursor ?? undefined;
    this.update({
      answered: this.asked,
      hits,
      hasMore: answer.page.hasMore,
      busy: this.asked !== this.current.query,
      total: answer.total,
      truncated: answer.truncated,
      diagnostics: answer.diagnostics ?? [],
      durationMs: answer.durationMs,
      problem: undefined,
    });
  }

  private refuse(reason: 'disabled' | 'not-ready' | 'no-service'): void {
    this.end({ kind: 'unavailable', reason });
  }

  private fail(error: unknown): void {
    this.end({ kind: 'error', message: error instanceof Error ? error.message : String(error) });
  }

  private end(problem: Problem): void {
    this.cursor = undefined;
    this.update({ ...nothing, answered: this.asked, busy: false, problem });
  }

  private update(change: Partial<SearchState>): void {
    this.current = { ...this.current, ...change };
    this.options.changed(this.current);
  }
}
