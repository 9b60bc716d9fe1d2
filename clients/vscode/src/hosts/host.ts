// Names of hosts: on which machine, or in which environment, the sessions lie that are
// searched. Pure; the rules are the contract's (§8).

export const localHost = 'local';

/** A host that can be chosen. */
export interface NamedHost {
  readonly host: string;
  /** Its name for people. */
  readonly label: string;
}

/** Where a host is known from: the user's own files, or that it was chosen before. */
export interface KnownHost extends NamedHost {
  readonly source: 'local' | 'config' | 'ssh_config' | 'used';
}

export function isLocal(host: string): boolean {
  return host === localHost;
}

const sshTarget = /^[A-Za-z0-9_][A-Za-z0-9_.@:%[\]-]{0,254}$/;
const runtimeId = /^[^\s\p{C}]{1,255}$/u;

/** Whether that is the name of one host. */
export function isHost(text: string): boolean {
  if (text.startsWith('ssh:')) return sshTarget.test(text.slice(4));
  if (text.startsWith('runtime:')) return runtimeId.test(text.slice(8));
  return isLocal(text);
}

/** The host that a person means who typed that: ssh:name, runtime:id, or what ssh would take. Never this machine, which is in the list. */
export function typedHost(text: string): string | undefined {
  const typed = text.trim();
  if (isLocal(typed)) return undefined;
  if (isHost(typed)) return typed;
  return /^(ssh|runtime):/.test(typed) || !isHost(`ssh:${typed}`) ? undefined : `ssh:${typed}`;
}

/** The name without what kind of host it is. */
export function shortName(host: string): string {
  return host.replace(/^(ssh|runtime):/, '');
}

/** The field that names the host in a request. Left out, it is this machine. */
export function hosted(host: string): { executionHost?: string } {
  return isLocal(host) ? {} : { executionHost: host };
}

/** What the user of a host types there, or here, to switch its search on; undefined where only they know how to get there. */
export function enableCommand(host: string): string | undefined {
  if (!host.startsWith('ssh:')) return undefined;
  const target = shortName(host);
  return `ssh ${/^[A-Za-z0-9_.@:-]+$/.test(target) ? target : `'${target}'`} sessionls enable`;
}

/** What `sessionls hosts --json` prints. */
export interface HostList {
  readonly hosts: readonly KnownHost[];
  /** Why a host of the configuration file is left out. */
  readonly warnings: readonly string[];
}

/** Reads such a list. What is no host is left out. */
export function parseHostList(json: string): HostList {
  const { hosts, warnings } = JSON.parse(json) as { hosts?: unknown; warnings?: unknown };
  return { hosts: Array.isArray(hosts) ? knownHosts(hosts) : [], warnings: Array.isArray(warnings) ? warnings.filter((w) => typeof w === 'string') : [] };
}

function knownHosts(rows: readonly unknown[]): KnownHost[] {
  return rows.flatMap((row: unknown): KnownHost[] => {
    const { host, label, source } = row as { host?: unknown; label?: unknown; source?: unknown };
    if (typeof host !== 'string' || !isHost(host)) return [];
    return [{ host, label: typeof label === 'string' && label.trim() !== '' ? label : shortName(host), source: source === 'local' || source === 'ssh_config' ? source : 'config' }];
  });
}

/** The hosts to choose from: this machine, then those of the user's files, then those chosen before that are in none; each once. */
export function allHosts(listed: readonly KnownHost[], used: readonly NamedHost[], current: NamedHost): KnownHost[] {
  const all = new Map<string, KnownHost>([[localHost, { host: localHost, label: '', source: 'local' }]]);
  const before = [current, ...used].map((h): KnownHost => ({ ...h, source: 'used' }));
  for (const h of [...listed, ...before]) if (!all.has(h.host)) all.set(h.host, h);
  return [...all.values()];
}
