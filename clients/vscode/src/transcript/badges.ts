// Marks the documents of other hosts' sessions, whose tabs would look like those of
// this machine.

import * as vscode from 'vscode';
import { isLocal } from '../hosts/host';
import type { Hosts } from '../hosts/hosts';
import { parseSessionUri, scheme } from './uri';

export class HostBadges implements vscode.FileDecorationProvider {
  constructor(private readonly hosts: Hosts) {}

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== scheme) return undefined;
    const host = parseSessionUri(uri.toString())?.host;
    if (host === undefined || isLocal(host)) return undefined;
    return new vscode.FileDecoration('↗', vscode.l10n.t('On {0}', this.hosts.name(host)));
  }
}
