// The running server: started, asked, started again after a crash, and told about.
// Each run has a LanguageClient of its own, so that a restart takes the settings
// and the binary as they are by then.

import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  ExecuteCommandRequest,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  State,
} from 'vscode-languageclient/node';
import { type CommandName, type Commands, type Status, statusNotification } from '../contract';
import { Backoff } from './backoff';
import type { Located } from './binary';

/** starting and waiting are on the way to running; failed and stopped need the user. */
export type ConnectionState = 'stopped' | 'starting' | 'running' | 'waiting' | 'failed';

/** Why the state is failed. */
export type Trouble =
  | { readonly kind: 'missing'; readonly located: Located & { found: false } }
  | { readonly kind: 'crashing'; readonly cause: string };

/** The server went away before it answered. The connection starts it again. */
export class ServerGone extends Error {
  constructor() {
    super(vscode.l10n.t('The session server stopped before it answered.'));
  }
}

export interface ConnectionOptions {
  readonly log: vscode.LogOutputChannel;
  locate(): Promise<Located>;
  environment(): Record<string, string>;
  /** The section sessionls of the contract. */
  configuration(): Record<string, unknown>;
  commandPrefix(): string;
  readonly middleware: Middleware;
  readonly backoff?: Backoff;
}

interface Run {
  readonly client: LanguageClient;
  /** The end was asked for. */
  ending: boolean;
  /** The end has been taken note of. */
  ended: boolean;
}

export class Connection implements vscode.Disposable {
  private readonly stateChanged = new vscode.EventEmitter<ConnectionState>();
  private readonly statusChanged = new vscode.EventEmitter<Status>();
  readonly onDidChangeState = this.stateChanged.event;
  readonly onDidChangeStatus = this.statusChanged.event;

  private current: ConnectionState = 'stopped';
  private run: Run | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly backoff: Backoff;
  private lastStatus: Status | undefined;
  private lastTrouble: Trouble | undefined;
  private disposed = false;

  constructor(private readonly options: ConnectionOptions) {
    this.backoff = options.backoff ?? new Backoff();
  }

  get state(): ConnectionState {
    return this.current;
  }

  /** The last status the server told of, until it ends. */
  get status(): Status | undefined {
    return this.lastStatus;
  }

  get trouble(): Trouble | undefined {
    return this.lastTrouble;
  }

  /** Whether the running server has that command. */
  supports(command: CommandName): boolean {
    const name = `${this.options.commandPrefix()}.${command}`;
    return this.run?.client.initializeResult?.capabilities.executeCommandProvider?.commands.includes(name) ?? false;
  }

  /** Whether the running server offers sessions as workspace symbols. */
  get offersSymbols(): boolean {
    return this.run?.client.initializeResult?.capabilities.workspaceSymbolProvider !== undefined;
  }

  get serverVersion(): string | undefined {
    return this.run?.client.initializeResult?.serverInfo?.version;
  }

  /** Starts the server unless it runs or is about to. */
  async start(): Promise<void> {
    if (this.disposed || this.current === 'starting' || this.current === 'running') return;
    clearTimeout(this.timer);
    this.become('starting');
    const located = await this.options.locate();
    if (this.isDisposed()) return;
    if (!located.found) {
      this.options.log.error(`no server binary; looked at ${located.tried.join(', ')}`);
      this.lastTrouble = { kind: 'missing', located };
      this.become('failed');
      return;
    }
    this.options.log.info(`starting ${located.file} (from: ${located.by})`);
    const run = this.newRun(located.file);
    this.run = run;
    try {
      await run.client.start();
      if (this.run === run && !run.ended) {
        this.lastTrouble = undefined;
        this.become('running');
      }
    } catch (error) {
      this.ended(run, error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends the server and starts it anew, at once. */
  async restart(): Promise<void> {
    clearTimeout(this.timer);
    this.backoff.reset();
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    const run = this.run;
    this.run = undefined;
    if (run !== undefined && !run.ended) {
      run.ending = true;
      run.ended = true;
      // A server that does not end by itself in that time is killed.
      await run.client.dispose(2000).catch((error: unknown) => this.options.log.warn(String(error)));
    }
    this.lastStatus = undefined;
    this.become('stopped');
  }

  /** Sends the settings again, after a change. */
  async configure(): Promise<void> {
    if (this.current !== 'running') return;
    await this.run?.client.sendNotification('workspace/didChangeConfiguration', {
      settings: { sessionls: this.options.configuration() },
    });
  }

  /**
   * Asks the server, when it runs. Rejects with ServerGone if it ends meanwhile or
   * cannot be started, with a CancellationError if the token is cancelled, else with
   * the server's error.
   */
  async request<C extends CommandName>(command: C, params: Commands[C][0], token?: vscode.CancellationToken): Promise<Commands[C][1]> {
    await this.running(token);
    const run = this.run;
    if (run === undefined) throw new ServerGone();
    try {
      const request = { command: `${this.options.commandPrefix()}.${command}`, arguments: [params] };
      return (await run.client.sendRequest(ExecuteCommandRequest.type, request, token)) as Commands[C][1];
    } catch (error) {
      if (token?.isCancellationRequested === true) throw new vscode.CancellationError();
      if (run.ended || run !== this.run || run.client.state !== State.Running) throw new ServerGone();
      throw error;
    }
  }

  /** Runs a short command of the server's program and gives what it prints. Rejects with what it says is wrong. */
  async output(...args: string[]): Promise<string> {
    const located = await this.options.locate();
    if (!located.found) throw new ServerGone();
    return new Promise((resolve, reject) => {
      const options = { env: this.environment(), timeout: 10_000, maxBuffer: 4_000_000, windowsHide: true };
      execFile(located.file, args, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(stderr.trim() === '' ? error.message : stderr.trim()));
      });
    });
  }

  dispose(): void {
    this.disposed = true;
    void this.stop().finally(() => {
      this.stateChanged.dispose();
      this.statusChanged.dispose();
    });
  }

  /** Waits until the server runs. */
  private async running(token?: vscode.CancellationToken): Promise<void> {
    if (this.current === 'stopped') void this.start();
    if (this.current === 'running') return;
    if (this.current === 'failed') throw new ServerGone();
    await new Promise<void>((resolve, reject) => {
      const subscriptions: vscode.Disposable[] = [];
      const finish = (end: () => void): void => {
        for (const s of subscriptions) s.dispose();
        end();
      };
      subscriptions.push(
        this.onDidChangeState((state) => {
          if (state === 'running') finish(resolve);
          else if (state === 'failed' || state === 'stopped') finish(() => reject(new ServerGone()));
        }),
      );
      if (token !== undefined) subscriptions.push(token.onCancellationRequested(() => finish(() => reject(new vscode.CancellationError()))));
    });
  }

  private newRun(file: string): Run {
    const { log } = this.options;
    const clientOptions: LanguageClientOptions = {
      documentSelector: [],
      outputChannel: log,
      traceOutputChannel: log,
      progressOnInitialization: false,
      initializationOptions: { ...this.options.configuration(), commandPrefix: this.options.commandPrefix() },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.ended(run, vscode.l10n.t('The connection was closed.'));
          // The client now takes back what it registered in the editor.
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: this.options.middleware,
    };
    const client = new LanguageClient(
      'sessions',
      'sessionls',
      { command: file, args: ['serve'], options: { env: this.environment() } },
      clientOptions,
    );
    client.onNotification(statusNotification, (status: Status) => {
      if (this.run !== run) return;
      this.lastStatus = status;
      this.statusChanged.fire(status);
    });
    const run: Run = { client, ending: false, ended: false };
    return run;
  }

  private environment(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.options.environment() };
  }

  /** A run is over without being asked: try again, later each time, and at last give up. */
  private ended(run: Run, cause: string): void {
    if (run.ended || run.ending || this.disposed) return;
    run.ended = true;
    if (this.run === run) this.run = undefined;
    this.lastStatus = undefined;

    const delay = this.backoff.ended(Date.now());
    if (delay === undefined) {
      this.options.log.error(`the server ended too often, giving up: ${cause}`);
      this.lastTrouble = { kind: 'crashing', cause };
      this.become('failed');
      return;
    }
    this.options.log.warn(`the server ended: ${cause}; starting it again in ${delay} ms`);
    this.timer = setTimeout(() => void this.start(), delay);
    this.become('waiting');
  }

  /** Disposing may happen during a wait, which a plain look at the field would not show the compiler. */
  private isDisposed(): boolean {
    return this.disposed;
  }

  private become(state: ConnectionState): void {
    if (this.current === state) return;
    this.current = state;
    this.stateChanged.fire(state);
  }
}
