// Whose sessions are searched in this window, and what is known of the other hosts.
//
// The choice belongs to the workspace: a project's agents run on one machine, and two
// windows may look at two. VS Code keeps it with the user's data, not in the folder, so
// no repository can make anybody's editor connect somewhere. Where none was made the
// user's setting holds.

import * as vscode from 'vscode';
import { withToken } from '../cancel';
import type { Phase, Status } from '../contract';
import { type Connection, ServerGone } from '../server/connection';
import { onSettingChange, userSetting } from '../settings';
import { label } from '../words';
import { allHosts, type HostList, isLocal, type KnownHost, localHost, type NamedHost, parseHostList, shortName } from './host';
import { HostStates } from './states';

/** In the state of the workspace: the host that was chosen in it. */
const chosenKey = 'sessions.host';
/** In the user's state: hosts that were chosen anywhere, the last first. */
const usedKey = 'sessions.usedHosts';
/** So many of them are remembered. */
const mostUsed = 30;

/** A host that settles is asked for its status that often, in milliseconds. */
const settleInterval = 1500;

export class Hosts implements vscode.Disposable {
  private readonly chosen = new vscode.EventEmitter<string>();
  /** Another host is searched from now on. */
  readonly onDidChoose = this.chosen.event;
  private readonly stateChanged = new vscode.EventEmitter<string>();
  /** More, or something else, is known of a host. */
  readonly onDidChangeState = this.stateChanged.event;
  readonly states: HostStates;
  private readonly labels = new Map<string, string>();
  private readonly subscriptions: vscode.Disposable[];
  private current: string;

  constructor(
    private readonly connection: Connection,
    private readonly workspaceState: vscode.Memento,
    private readonly globalState: vscode.Memento,
  ) {
    this.states = new HostStates({
      ask: (host, signal) => withToken(signal, (token) => this.searchStatus(host, token)),
      changed: (host) => this.stateChanged.fire(host),
      isPassing: (error) => error instanceof ServerGone,
      now: () => Date.now(),
      stopped: (host) => vscode.l10n.t('{0} was not waited for.', this.name(host)),
    });
    for (const h of this.used) this.labels.set(h.host, h.label);
    if (this.own !== undefined) this.labels.set(this.own.host, this.own.label);
    this.current = this.host;
    this.subscriptions = [
      this.chosen,
      this.stateChanged,
      onSettingChange(['host'], () => this.tell()),
      connection.onDidChangeState((state) => {
        if (state !== 'running') this.states.disconnected();
      }),
    ];
  }

  dispose(): void {
    for (const s of this.subscriptions) s.dispose();
  }

  /** The host that is searched. */
  get host(): string {
    return this.own?.host ?? this.configured;
  }

  /** The host of the setting. */
  private get configured(): string {
    // As it is, even if it is no host: the server then says so, and nothing else is searched instead.
    const configured: unknown = userSetting('host');
    const name = typeof configured === 'string' ? configured.trim() : JSON.stringify(configured);
    return name === '' ? localHost : name;
  }

  get isRemote(): boolean {
    return !isLocal(this.host);
  }

  /** Hosts that were chosen before. */
  get used(): readonly NamedHost[] {
    return this.globalState.get<readonly NamedHost[]>(usedKey, []);
  }

  /** A host's name for people. */
  name(host: string): string {
    return isLocal(host) ? vscode.l10n.t('this machine') : label(this.labels.get(host) ?? shortName(host), 60);
  }

  /** Searches another host from now on, in this workspace. What the setting says already is no choice of its own, and follows the setting. */
  async choose(h: NamedHost): Promise<void> {
    const kept = { host: h.host, label: h.label };
    this.labels.set(h.host, h.label);
    this.states.retry(h.host);
    // What is written counts at once; that it gets to the disk is waited for afterwards.
    const written = [this.workspaceState.update(chosenKey, h.host === this.configured ? undefined : kept)];
    if (!isLocal(h.host)) written.push(this.globalState.update(usedKey, [kept, ...this.used.filter((u) => u.host !== h.host)].slice(0, mostUsed)));
    this.tell();
    await Promise.all(written);
  }

  /** Does not offer a host any more that was chosen before. */
  async dropUsed(host: string): Promise<void> {
    await this.globalState.update(usedKey, this.used.filter((u) => u.host !== host));
  }

  /**
   * Whether the user has ever chosen that host. No other is connected to: the address of a
   * document may come from anywhere, and its first part is the name of a host.
   */
  isTrusted(host: string): boolean {
    return isLocal(host) || host === this.host || this.used.some((u) => u.host === host);
  }

  /** The hosts to choose from. What the user's files name comes first; these are not read here. */
  known(listed: readonly KnownHost[]): KnownHost[] {
    return allHosts(listed, this.used, { host: this.host, label: this.labels.get(this.host) ?? shortName(this.host) });
  }

  /** The hosts that the configuration of sessionls and that of ssh name. None is asked. */
  async list(): Promise<HostList> {
    const listed = parseHostList(await this.connection.output('hosts', '--json'));
    for (const h of listed.hosts) this.labels.set(h.host, h.label);
    return listed;
  }

  /** Waits until a host can be asked; this machine always can. */
  async reach(host: string, signal: AbortSignal): Promise<void> {
    if (!isLocal(host)) await this.states.reach(host, signal);
  }

  /** What the host last said of itself. */
  status(host: string): Status | undefined {
    return isLocal(host) ? this.connection.status : this.states.status(host);
  }

  /**
   * Follows a host that has just been started or is still indexing, until what it says of itself is
   * more than the beginning. Nothing is heard of it unasked.
   */
  async settle(host: string, signal: AbortSignal): Promise<void> {
    const phase = (): Phase | undefined => this.states.status(host)?.phase;
    // One that does not even come to indexing has a fault that only its own log tells of.
    for (let rounds = 0; phase() === 'indexing' || (phase() === 'idle' && rounds < 20); rounds++) {
      await pause(settleInterval, signal);
      if (signal.aborted) return;
      try {
        await this.states.ask(host, signal);
      } catch {
        return; // whoever asks for more hears of it
      }
    }
  }

  private searchStatus(host: string, token: vscode.CancellationToken): Promise<Status> {
    return this.connection.request('searchStatus', { executionHost: host }, token);
  }

  /** The choice made in this workspace, if any. */
  private get own(): NamedHost | undefined {
    return this.workspaceState.get<NamedHost>(chosenKey);
  }

  private tell(): void {
    const { host } = this;
    if (host === this.current) return;
    const before = this.current;
    this.current = host;
    if (!isLocal(before)) this.states.stop(before);
    this.chosen.fire(host);
  }
}

/** Waits, or less if the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, milliseconds);
    signal.addEventListener('abort', over, { once: true });
    if (signal.aborted) over();
  });
}
