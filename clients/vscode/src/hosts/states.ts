// How the search of other hosts stands, as far as they were asked. Pure.
//
// A host is connected when it is first asked, which may take half a minute; the attempt
// ends a moment after whoever asked has cancelled that. So a search that goes out with every key must
// not be the first request: the host is reached by one of its own, which all who need it wait for.

import type { Status } from '../contract';

export type HostState =
  | { readonly kind: 'asking' }
  | { readonly kind: 'enabled'; readonly status: Status }
  /** Its user has not switched search on, or its sessionls is too old. */
  | { readonly kind: 'not-enabled' }
  | { readonly kind: 'unreachable'; readonly message: string };

/** The host was not waited for any longer. */
export class AskingStopped extends Error {}

export interface HostStatesOptions {
  /** Asks a host for its status. */
  ask(host: string, signal: AbortSignal): Promise<Status>;
  changed(host: string): void;
  /** An error that says nothing about the host. */
  isPassing(error: unknown): boolean;
  now(): number;
  /** What a host that is not waited for any longer is said to be. */
  stopped(host: string): string;
}

/** The service keeps a connection for five minutes after it was used; so long nothing has to be made anew. */
export const connected = 4 * 60_000;

/** So long a failure is not tried again unbidden: a search that is typed would ask once a key. */
export const rest = 5000;

interface Asking {
  readonly controller: AbortController;
  readonly answer: Promise<Status>;
  waiting: number;
}

export class HostStates {
  private readonly states = new Map<string, HostState>();
  private readonly asked = new Map<string, Asking>();
  private readonly reached = new Map<string, number>();
  private readonly failures = new Map<string, { readonly at: number; readonly error: unknown }>();

  constructor(private readonly options: HostStatesOptions) {}

  state(host: string): HostState | undefined {
    return this.states.get(host);
  }

  /** What the host last said of itself. */
  status(host: string): Status | undefined {
    const state = this.states.get(host);
    return state?.kind === 'enabled' ? state.status : undefined;
  }

  /** Whether the host has answered so lately that it will again without much ado. */
  isReached(host: string): boolean {
    const at = this.reached.get(host);
    return at !== undefined && this.options.now() - at < connected;
  }

  /** Waits until the host can be asked. Rejects with why it cannot, or with AskingStopped. */
  async reach(host: string, signal: AbortSignal): Promise<void> {
    if (this.isReached(host)) {
      this.touch(host);
      return;
    }
    const failure = this.failures.get(host);
    if (failure !== undefined && !this.asked.has(host) && this.options.now() - failure.at < rest) throw failure.error;
    await this.ask(host, signal);
  }

  /** The host is about to be asked and its connection with that kept. */
  touch(host: string): void {
    this.reached.set(host, this.options.now());
  }

  /** Asks how the search of a host stands. All who ask at a time get one answer; when none of them waits any longer, the request ends. */
  async ask(host: string, signal: AbortSignal): Promise<Status> {
    const asking = this.asked.get(host) ?? this.begin(host);
    asking.waiting++;
    try {
      return await abortable(asking.answer, signal, () => this.notWaited(host));
    } finally {
      asking.waiting--;
      if (asking.waiting === 0) asking.controller.abort();
    }
  }

  /** Nobody is to wait for the host any longer. */
  stop(host: string): void {
    this.asked.get(host)?.controller.abort();
  }

  /** The host is asked again when it is next needed: the user wants that, or a request has failed. */
  retry(host: string): void {
    this.failures.delete(host);
    this.reached.delete(host);
  }

  /** The service has ended, and its connections with it. */
  disconnected(): void {
    this.failures.clear();
    this.reached.clear();
  }

  private begin(host: string): Asking {
    const controller = new AbortController();
    const before = this.states.get(host);
    const answer = this.answer(host, controller.signal, before);
    const asking: Asking = { controller, answer, waiting: 0 };
    this.asked.set(host, asking);
    const over = (): void => {
      if (this.asked.get(host) === asking) this.asked.delete(host);
    };
    answer.then(over, over);
    // Who asks next while this one is being cancelled begins anew.
    controller.signal.addEventListener('abort', over, { once: true });
    // What is known of a host stays known while it is asked again.
    if (before?.kind !== 'enabled') this.become(host, { kind: 'asking' });
    return asking;
  }

  private async answer(host: string, signal: AbortSignal, before: HostState | undefined): Promise<Status> {
    try {
      const status = await abortable(this.options.ask(host, signal), signal, () => this.notWaited(host));
      this.failures.delete(host);
      this.touch(host);
      this.become(host, status.enabled ? { kind: 'enabled', status } : { kind: 'not-enabled' });
      return status;
    } catch (error) {
      if (error instanceof AskingStopped || this.options.isPassing(error)) {
        // Unless it is asked anew already.
        const asking = this.asked.get(host);
        if (asking === undefined || asking.controller.signal === signal) this.become(host, before?.kind === 'asking' ? undefined : before);
      } else {
        this.failures.set(host, { at: this.options.now(), error });
        this.become(host, { kind: 'unreachable', message: error instanceof Error ? error.message : String(error) });
      }
      throw error;
    }
  }

  private notWaited(host: string): AskingStopped {
    return new AskingStopped(this.options.stopped(host));
  }

  private become(host: string, state: HostState | undefined): void {
    if (state === undefined) this.states.delete(host);
    else this.states.set(host, state);
    this.options.changed(host);
  }
}

/** The promise, or a rejection as soon as the signal is aborted. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal, stopped: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(stopped());
    if (signal.aborted) {
      promise.catch(() => undefined); // nobody hears of it
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
