// Links from a transcript to files that exist in the workspace.

import * as vscode from 'vscode';
import { isLocal } from '../hosts/host';
import type { TranscriptDocuments } from './documents';
import { candidates, pathMentions } from './links';
import { parseSessionUri } from './uri';

export class FileLinks implements vscode.DocumentLinkProvider {
  constructor(private readonly documents: TranscriptDocuments) {}

  async provideDocumentLinks(document: vscode.TextDocument, token: vscode.CancellationToken): Promise<vscode.DocumentLink[]> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme !== 'untitled');
    const first = folders[0];
    // The files that a session of another host is about are over there.
    if (first === undefined || !isLocal(parseSessionUri(document.uri.toString())?.host ?? '')) return [];
    const cwd = this.documents.rendering(document.uri)?.session.cwd ?? null;
    const known = new Map<string, Promise<vscode.Uri | undefined>>();
    const links: vscode.DocumentLink[] = [];
    for (const mention of pathMentions(document.getText())) {
      if (token.isCancellationRequested) return [];
      let target = known.get(mention.path);
      if (target === undefined) {
        target = existing(candidates(mention.path, cwd, folders.map((f) => f.uri.fsPath)), first.uri);
        known.set(mention.path, target);
      }
      const uri = await target;
      if (uri === undefined) continue;
      const range = new vscode.Range(document.positionAt(mention.start), document.positionAt(mention.end));
      const fragment = mention.line === undefined ? '' : `L${mention.line}${mention.column === undefined ? '' : `,${mention.column}`}`;
      const link = new vscode.DocumentLink(range, uri.with({ fragment }));
      link.tooltip = vscode.l10n.t('Open File');
      links.push(link);
    }
    return links;
  }
}

/** The first of the paths that is a file. */
async function existing(paths: readonly string[], like: vscode.Uri): Promise<vscode.Uri | undefined> {
  for (const path of paths) {
    const uri = like.with({ path: path.startsWith('/') ? path : `/${path}` });
    try {
      if ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.File) return uri;
    } catch {
      // Not there: the next one.
    }
  }
  return undefined;
}
