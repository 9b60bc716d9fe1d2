// The matches in an open transcript: shown, counted and walked through.

import * as vscode from 'vscode';
import { isLocal } from '../hosts/host';
import type { Hosts } from '../hosts/hosts';
import { reportHostFailure, withPatience } from '../hosts/messages';
import type { Connection } from '../server/connection';
import { named, type Place, type SessionRef } from '../session/ref';
import type { TranscriptOpener } from '../session/actions';
import { matchedWords } from '../search/rows';
import { rangeOf, type TranscriptDocuments } from './documents';
import { findWords, nextSpan, previousSpan, type Span } from './matches';
import { parseSessionUri, scheme, sessionUri } from './uri';

/** The context key that says the active editor shows a transcript with matches. */
export const matchesKey = 'sessions.hasMatches';

export class TranscriptNavigator implements TranscriptOpener, vscode.Disposable {
  private readonly words = new Map<string, readonly string[]>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly decoration = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('editor.findMatchHighlightBackground'),
    border: '1px solid',
    borderColor: new vscode.ThemeColor('editor.findMatchHighlightBorder'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.findMatchForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });

  constructor(
    private readonly connection: Connection,
    private readonly documents: TranscriptDocuments,
    private readonly hosts: Hosts,
  ) {
    this.subscriptions = [
      this.decoration,
      vscode.window.onDidChangeActiveTextEditor(() => this.mark()),
      vscode.workspace.onDidChangeTextDocument((e) => {
        if (e.document.uri.scheme === scheme) this.mark();
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.words.delete(document.uri.toString())),
    ];
  }

  dispose(): void {
    for (const s of this.subscriptions) s.dispose();
  }

  async open(ref: SessionRef, place: Place, options: { readonly beside?: boolean } = {}): Promise<void> {
    try {
      const uri = vscode.Uri.parse(sessionUri(ref), true);
      // From another host it may take long: then it is asked before anything opens, so that this can be cancelled.
      if (!isLocal(ref.host)) await this.fetch(ref, uri);
      const document = await vscode.workspace.openTextDocument(uri);
      const editor = await vscode.window.showTextDocument(document, {
        preview: true,
        ...(options.beside === true ? { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true } : {}),
      });
      if (place.words !== undefined) this.words.set(document.uri.toString(), place.words);
      await this.reveal(editor, place);
      this.mark();
      await this.moreWords(ref, place, document.uri);
    } catch (error) {
      void reportHostFailure(error, ref.host, { retry: () => this.open(ref, place, options), another: false });
    }
  }

  /** Reads a document anew; one of another host does not follow its session by itself. */
  async refresh(ref: SessionRef): Promise<void> {
    try {
      await this.fetch(ref, vscode.Uri.parse(sessionUri(ref), true));
    } catch (error) {
      void reportHostFailure(error, ref.host, { retry: () => this.refresh(ref), another: false });
    }
  }

  private async fetch(ref: SessionRef, uri: vscode.Uri): Promise<void> {
    await withPatience(ref.host, this.hosts.name(ref.host), (token) => this.documents.fetch(uri, token));
  }

  next(): void {
    this.step((spans, document, selection) => nextSpan(spans, document.offsetAt(selection.end)));
  }

  previous(): void {
    this.step((spans, document, selection) => previousSpan(spans, document.offsetAt(selection.start) + 1));
  }

  /** The matches in a document. */
  spans(document: vscode.TextDocument): Span[] {
    return findWords(document.getText(), this.words.get(document.uri.toString()) ?? []);
  }

  private async reveal(editor: vscode.TextEditor, place: Place): Promise<void> {
    const { document } = editor;
    let range: vscode.Range | undefined;
    if (place.seq !== undefined) {
      await this.documents.include(document.uri, place.seq);
      const rendering = this.documents.rendering(document.uri);
      if (rendering !== undefined) range = rangeOf(document, rendering, place.seq);
    }
    const spans = this.spans(document);
    const from = range === undefined ? 0 : document.offsetAt(range.start);
    const to = range === undefined ? Number.POSITIVE_INFINITY : document.offsetAt(range.end);
    const span = spans.find((s) => s.start >= from && s.end <= to);
    const target = span === undefined ? range && new vscode.Range(range.start, range.start) : this.rangeOf(document, span);
    if (target === undefined) return;
    editor.selection = new vscode.Selection(target.start, target.end);
    editor.revealRange(target, vscode.TextEditorRevealType.InCenter);
  }

  /** Where the server can say which words match elsewhere in the session, these count too. */
  private async moreWords(ref: SessionRef, place: Place, uri: vscode.Uri): Promise<void> {
    if (place.query === undefined || place.query.trim() === '' || !this.connection.supports('searchEvents')) return;
    const answer = await this.connection.request('searchEvents', { ...named(ref), query: place.query, limit: 200 });
    const words = new Set([...(place.words ?? []), ...answer.hits.flatMap((hit) => matchedWords(hit))]);
    if (!vscode.workspace.textDocuments.some((d) => d.uri.toString() === uri.toString())) return;
    this.words.set(uri.toString(), [...words]);
    this.mark();
  }

  private step(choose: (spans: Span[], document: vscode.TextDocument, selection: vscode.Selection) => number): void {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || parseSessionUri(editor.document.uri.toString()) === undefined) return;
    const spans = this.spans(editor.document);
    const index = choose(spans, editor.document, editor.selection);
    const span = spans[index];
    if (span === undefined) {
      vscode.window.setStatusBarMessage(vscode.l10n.t('No match in this session'), 4000);
      return;
    }
    const range = this.rangeOf(editor.document, span);
    editor.selection = new vscode.Selection(range.start, range.end);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    vscode.window.setStatusBarMessage(vscode.l10n.t('Match {0} of {1}', index + 1, spans.length), 4000);
  }

  private mark(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== scheme) continue;
      const spans = this.spans(editor.document);
      editor.setDecorations(this.decoration, spans.map((s) => this.rangeOf(editor.document, s)));
    }
    const active = vscode.window.activeTextEditor;
    const has = active?.document.uri.scheme === scheme && (this.words.get(active.document.uri.toString())?.length ?? 0) > 0;
    void vscode.commands.executeCommand('setContext', matchesKey, has);
  }

  private rangeOf(document: vscode.TextDocument, span: Span): vscode.Range {
    return new vscode.Range(document.positionAt(span.start), document.positionAt(span.end));
  }
}
