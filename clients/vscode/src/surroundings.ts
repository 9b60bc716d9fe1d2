// What texts about sessions depend on: language, clock, names of agents.

import * as vscode from 'vscode';
import type { Hosts } from './hosts/hosts';
import type { Connection } from './server/connection';
import type { Surroundings } from './search/rows';

export function surroundings(connection: Connection, hosts: Hosts): Surroundings {
  const agents = [...(hosts.status(hosts.host)?.agents ?? []), ...(connection.status?.agents ?? [])];
  const labels = new Map(agents.map((a) => [a.agent, a.label]));
  return {
    t: vscode.l10n.t,
    now: Date.now(),
    locale: vscode.env.language,
    agentLabel: (agent) => labels.get(agent) ?? agent,
    hostName: (host) => hosts.name(host),
  };
}
