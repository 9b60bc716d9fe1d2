// Sessions as read-only Markdown documents, kept in step with the sessions while
// these grow.

import * as vscode from 'vscode';
import type { Status } from '../contract';
import { isLocal } from '../hosts/host';
import type { Hosts } from '../hosts/hosts';
import { untrusted } from '../hosts/messages';
import { type Connection, ServerGone } from '../server/connection';
import { named } from '../session/ref';
import { onSettingChange, setting } from '../settings';
import { oneLine } from '../words';
import { linesOf, renderFrom, renderGrowth, type Render, type Rendering } from './rendering';
import { parseSessionUri, scheme, type SessionAddress } from './uri';

/** A session that grows is read again at most that often, in milliseconds. */
const refreshInterval = 1000;

/** So many events before the wanted one are shown when a transcript is too long to show it whole. */
const lead = 500;

export class TranscriptDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly renderings = new Map<string, Rendering>();
  /** Where to begin, for sessions that are too long. */
  private readonly starts = new Map<string, number>();
  /** Documents whose rendering was just read, before they ask for it. */
  private readonly fetched = new Set<string>();
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private generation = -1;

  constructor(
    private readonly connection: Connection,
    private readonly hosts: Hosts,
  ) {
    this.subscriptions = [
      this.changed,
      connection.onDidChangeStatus((status) => this.indexMoved(status)),
      connection.onDidChangeState((state) => {
        if (state === 'running') this.refresh(isHere);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.renderings.delete(document.uri.toString());
        this.starts.delete(document.uri.toString());
      }),
      onSettingChange(['transcript.thinking', 'transcript.tools'], () => {
        this.renderings.clear();
        this.refresh();
      }),
      // A document that could not be shown because nobody had chosen its host.
      hosts.onDidChoose((host) => this.refresh((uri) => this.rendering(uri) === undefined && parseSessionUri(uri.toString())?.host === host)),
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const s of this.subscriptions) s.dispose();
  }

  /** What a document shows, once it has been shown. */
  rendering(uri: vscode.Uri): Rendering | undefined {
    return this.renderings.get(uri.toString());
  }

  /** Makes sure that an event is shown: renders the document from nearer to it if need be. */
  async include(uri: vscode.Uri, seq: number): Promise<void> {
    const rendering = this.rendering(uri);
    if (rendering === undefined) return;
    const last = rendering.lines.at(-1)?.seq ?? -1;
    if (seq >= rendering.fromSeq && (rendering.nextSeq === null || seq <= last)) return;
    this.starts.set(uri.toString(), Math.max(0, seq - lead));
    this.renderings.delete(uri.toString());
    await this.reload(uri);
  }

  /**
   * Reads a document's text before it is opened, or anew where it is open. Rejects with
   * why that cannot be done, where a document could only hold that as its text.
   */
  async fetch(uri: vscode.Uri, token: vscode.CancellationToken): Promise<void> {
    const key = uri.toString();
    const address = parseSessionUri(key);
    if (address === undefined) return;
    const rendering = await this.render(address, this.renderings.get(key), this.starts.get(key) ?? 0, token);
    this.renderings.set(key, rendering);
    const open = vscode.workspace.textDocuments.find((d) => d.uri.toString() === key);
    if (open?.getText() === rendering.markdown) return;
    this.fetched.add(key);
    if (open !== undefined) await this.reload(uri);
  }

  async provideTextDocumentContent(uri: vscode.Uri, token?: vscode.CancellationToken): Promise<string> {
    const address = parseSessionUri(uri.toString());
    if (address === undefined) return vscode.l10n.t('This is no address of a session.');
    if (!this.hosts.isTrusted(address.host)) {
      return untrusted(address.host);
    }
    try {
      const before = this.renderings.get(uri.toString());
      if (this.fetched.delete(uri.toString()) && before !== undefined) return before.markdown;
      const rendering = await this.render(address, before, this.starts.get(uri.toString()) ?? 0, token);
      this.renderings.set(uri.toString(), rendering);
      return rendering.markdown;
    } catch (error) {
      if (error instanceof vscode.CancellationError) throw error;
      // What was shown stays while the server is started again.
      const before = this.renderings.get(uri.toString());
      if (error instanceof ServerGone && before !== undefined) return before.markdown;
      return vscode.l10n.t('This session cannot be shown: {0}', oneLine(error instanceof Error ? error.message : String(error), 500));
    }
  }

  private async render(address: SessionAddress, before: Rendering | undefined, from: number, token?: vscode.CancellationToken): Promise<Rendering> {
    const ask: Render = (fromSeq) =>
      this.connection.request(
        'renderTranscript',
        { ...named(address), fromSeq, limit: 2000, thinking: setting('transcript.thinking'), tools: setting('transcript.tools') },
        token,
      );
    if (before === undefined) return renderFrom(ask, from);
    const after = await renderGrowth(ask, before);
    // The log was rewritten, not continued: what was shown is no beginning of it.
    return after.session.epoch === before.session.epoch ? after : renderFrom(ask, from);
  }

  private indexMoved(status: Status): void {
    if (status.generation === this.generation) return;
    this.generation = status.generation;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.refresh(isHere);
    }, refreshInterval);
  }

  private refresh(which: (uri: vscode.Uri) => boolean = () => true): void {
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme === scheme && which(document.uri)) this.changed.fire(document.uri);
    }
  }

  /** Reads a document again and waits until the editor shows it. */
  private async reload(uri: vscode.Uri): Promise<void> {
    const shown = new Promise<void>((resolve) => {
      const subscription = vscode.workspace.onDidChangeTextDocument((e) => {
        if (e.document.uri.toString() !== uri.toString()) return;
        subscription.dispose();
        clearTimeout(patience);
        resolve();
      });
      const patience = setTimeout(() => {
        subscription.dispose();
        resolve();
      }, 5000);
    });
    this.changed.fire(uri);
    await shown;
  }
}

/** What happens on this machine is told by its server; of other hosts nothing is heard, so their sessions are read when the user wants it. */
function isHere(uri: vscode.Uri): boolean {
  const address = parseSessionUri(uri.toString());
  return address === undefined || isLocal(address.host);
}

/** The lines of an event as a range of the document, or undefined. */
export function rangeOf(document: vscode.TextDocument, rendering: Rendering, seq: number): vscode.Range | undefined {
  const lines = linesOf(rendering, seq);
  if (lines === undefined || lines.line >= document.lineCount) return undefined;
  return document.validateRange(new vscode.Range(lines.line, 0, lines.endLine, Number.MAX_SAFE_INTEGER));
}
