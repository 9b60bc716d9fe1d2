// From a session to those it came from and those that came of it.

import * as vscode from 'vscode';
import type { Header, TraceNode } from '../contract';
import type { Hosts } from '../hosts/hosts';
import { reportHostFailure, withPatience } from '../hosts/messages';
import type { Connection } from '../server/connection';
import { sessionDescription, sessionIcon, type Surroundings } from '../search/rows';
import { label } from '../words';
import type { SessionActions } from './actions';
import { named, refOfHeader, type SessionRef } from './ref';

export type Kin = 'parent' | 'forks' | 'subagents';

export class Lineage {
  constructor(
    private readonly connection: Connection,
    private readonly hosts: Hosts,
    private readonly actions: SessionActions,
    private readonly surroundings: () => Surroundings,
  ) {}

  /** Opens the one relative, or lets the user choose. */
  async show(ref: SessionRef, kin: Kin): Promise<void> {
    try {
      const { host } = ref;
      const open = (session: Header): Promise<void> => this.actions.open({ ...refOfHeader(session), host });
      const trace = await withPatience(host, this.hosts.name(host), (token) => this.connection.request('traceSession', named(ref), token));
      const found = kin === 'parent' ? trace.ancestors.slice(0, 1) : below(trace.descendants, kin === 'forks' ? isFork : isSubagent);
      const only = found[0];
      if (only === undefined) {
        void vscode.window.showInformationMessage(nothing(kin, trace.unresolvedParentId));
        return;
      }
      if (found.length === 1) {
        await open(only);
        return;
      }
      const at = this.surroundings();
      const picked = await vscode.window.showQuickPick(
        found.map((session) => ({
          label: `$(${sessionIcon(session)}) ${label(session.title, 120)}`,
          description: sessionDescription(session, at),
          session,
        })),
        { title: kin === 'forks' ? vscode.l10n.t('Forks of this session') : vscode.l10n.t('Sub-agents of this session'), matchOnDescription: true },
      );
      if (picked !== undefined) await open(picked.session);
    } catch (error) {
      void reportHostFailure(error, ref.host, { retry: () => this.show(ref, kin), another: false });
    }
  }
}

const isSubagent = (h: Header): boolean => h.relation === 'subagent';
const isFork = (h: Header): boolean => !isSubagent(h);

/** The descendants that fit, those nearer to the session first. */
function below(nodes: readonly TraceNode[], fits: (h: Header) => boolean): Header[] {
  const found: Header[] = [];
  for (let level = nodes; level.length > 0; level = level.flatMap((n) => n.descendants)) {
    found.push(...level.map((n) => n.session).filter(fits));
  }
  return found;
}

function nothing(kin: Kin, unresolved: string | undefined): string {
  switch (kin) {
    case 'parent':
      return unresolved === undefined
        ? vscode.l10n.t('This session has no parent.')
        : vscode.l10n.t('The parent of this session was not found: {0}', unresolved);
    case 'forks':
      return vscode.l10n.t('This session was not forked or continued elsewhere.');
    case 'subagents':
      return vscode.l10n.t('This session started no sub-agents.');
  }
}
