// Choosing the host whose sessions are searched.

import * as vscode from 'vscode';
import { label, oneLine } from '../words';
import { isLocal, type KnownHost, localHost, shortName, typedHost } from './host';
import type { Hosts } from './hosts';
import { notEnabled, reportHostFailure, tellHostFailure, withPatience } from './messages';
import { stateWords } from './words';

interface HostItem extends vscode.QuickPickItem {
  readonly known?: KnownHost;
  readonly buttons?: readonly HostButton[];
}

interface HostButton extends vscode.QuickInputButton {
  readonly does: 'ask' | 'drop' | 'askAll';
}

const sources: readonly KnownHost['source'][] = ['local', 'config', 'ssh_config', 'used'];

export class HostPicker {
  private readonly pick = vscode.window.createQuickPick<HostItem>();
  private readonly closed = new AbortController();
  private hosts: KnownHost[] = [];
  /** What is wrong with the configuration of hosts. */
  private problems: readonly { readonly label: string; readonly detail?: string }[] = [];

  /** What the rows look like. */
  private look = '';

  private constructor(private readonly all: Hosts) {}

  /** Lets the user choose; undefined if they did not. */
  static async show(hosts: Hosts): Promise<KnownHost | undefined> {
    return new HostPicker(hosts).open();
  }

  private async open(): Promise<KnownHost | undefined> {
    const { pick, all } = this;
    pick.title = vscode.l10n.t('Search the sessions of which host?');
    pick.placeholder = vscode.l10n.t('Choose, or type a name that ssh takes: box, dev@box, ssh:box');
    pick.matchOnDescription = true;
    pick.buttons = [this.button('askAll', 'sync', vscode.l10n.t('Ask All Hosts How Their Search Stands'))];
    pick.busy = true;
    this.hosts = all.known([]);
    this.show(all.host);
    const subscriptions = [
      pick,
      all.onDidChangeState(() => this.show(this.active)),
      // What the text matches best comes first; the row that was chosen before may match no more.
      pick.onDidChangeValue(() => this.show(undefined)),
      pick.onDidTriggerButton(() => {
        for (const h of this.hosts) this.ask(h.host);
      }),
      pick.onDidTriggerItemButton(({ item, button }) => void this.act((button as HostButton).does, item.known)),
    ];
    const picked = new Promise<KnownHost | undefined>((resolve) => {
      subscriptions.push(
        pick.onDidAccept(() => {
          const chosen = pick.activeItems[0]?.known;
          if (chosen === undefined) return;
          resolve(chosen);
          pick.hide();
        }),
        pick.onDidHide(() => resolve(undefined)),
      );
    });
    pick.show();
    void this.list();
    try {
      return await picked;
    } finally {
      this.closed.abort();
      for (const s of subscriptions) s.dispose();
    }
  }

  /** Reads which hosts there are, and asks those that the user has configured for this, unless they have answered before. Those of ssh are asked on demand only: there
   * may be many, and a login is not nothing. */
  private async list(): Promise<void> {
    try {
      const { hosts, warnings } = await this.all.list();
      this.hosts = this.all.known(hosts);
      this.problems = warnings.map((warning) => ({ label: label(warning) }));
    } catch (error) {
      this.problems = [{ label: vscode.l10n.t('The hosts of your configuration cannot be listed'), detail: label(error instanceof Error ? error.message : String(error)) }];
    }
    if (this.closed.signal.aborted) return;
    this.pick.busy = false;
    this.show(this.active);
    for (const h of this.hosts) if (h.source === 'config' && this.all.states.status(h.host) === undefined) this.ask(h.host);
  }

  private ask(host: string): void {
    if (isLocal(host)) return;
    const { signal } = this.closed;
    // How it went is in the state of the host.
    this.all.states.ask(host, signal).then(() => this.all.settle(host, signal), () => undefined);
  }

  private async act(does: HostButton['does'], known: KnownHost | undefined): Promise<void> {
    if (known === undefined) return;
    if (does === 'ask') this.ask(known.host);
    if (does !== 'drop') return;
    await this.all.dropUsed(known.host);
    this.hosts = this.hosts.filter((h) => h.host !== known.host || h.host === this.all.host);
    this.show(undefined);
  }

  private get active(): string | undefined {
    return this.pick.activeItems[0]?.known?.host;
  }

  private show(active: string | undefined): void {
    const { pick } = this;
    const items: HostItem[] = [];
    const typed = typedHost(pick.value);
    for (const source of sources) {
      const rows = this.hosts.filter((h) => h.source === source);
      const title = this.title(source);
      if (rows.length > 0 && title !== undefined) items.push({ label: title, kind: vscode.QuickPickItemKind.Separator });
      items.push(...rows.map((h) => this.item(h)));
    }
    if (typed !== undefined && !this.hosts.some((h) => h.host === typed)) {
      items.push({ label: vscode.l10n.t('another'), kind: vscode.QuickPickItemKind.Separator });
      items.push({ label: `$(add) ${label(typed)}`, description: vscode.l10n.t('ask this host'), alwaysShow: true, known: { host: typed, label: shortName(typed), source: 'used' } });
    }
    if (typed === undefined && /^\s*(ssh|runtime):/.test(pick.value)) {
      items.push({ label: `$(warning) ${vscode.l10n.t('This is no name of a host: ssh:NAME or runtime:ID')}`, alwaysShow: true });
    }
    items.push(...this.problems.map((p): HostItem => ({ ...p, label: `$(warning) ${p.label}`, alwaysShow: true })));
    // Setting the rows takes the focus from the one that has it, for a moment in which Enter is lost.
    const look = JSON.stringify(items.map((i) => [i.label, i.description, i.detail, i.buttons?.length]));
    if (look === this.look) return;
    this.look = look;
    pick.keepScrollPosition = true;
    pick.items = items;
    const again = active === undefined ? undefined : items.find((i) => i.known?.host === active);
    if (again !== undefined) pick.activeItems = [again];
  }

  private title(source: KnownHost['source']): string | undefined {
    switch (source) {
      case 'local':
        return undefined;
      case 'config':
        return vscode.l10n.t('environments of your configuration');
      case 'ssh_config':
        return vscode.l10n.t('hosts of your ssh configuration');
      case 'used':
        return vscode.l10n.t('chosen before');
    }
  }

  private item(h: KnownHost): HostItem {
    const { all } = this;
    const { t } = vscode.l10n;
    const local = isLocal(h.host);
    const current = h.host === all.host;
    const icon = local ? 'vm' : h.host.startsWith('runtime:') ? 'package' : 'remote';
    const buttons: HostButton[] = [];
    if (!local) buttons.push(this.button('ask', 'sync', t('Ask How Its Search Stands')));
    if (h.source === 'used' && !current) buttons.push(this.button('drop', 'close', t('Do Not Offer This Host Any More')));
    const described = [local ? '' : label(h.host), current ? t('searched now') : ''].filter((part) => part !== '');
    const detail = stateWords(local ? localState(all) : all.states.state(h.host), t);
    return {
      label: `$(${icon}) ${local ? t('This machine') : label(h.label, 60)}`,
      description: described.join(' · '),
      ...(detail === '' ? {} : { detail }),
      buttons,
      known: h,
    };
  }

  private button(does: HostButton['does'], icon: string, tooltip: string): HostButton {
    return { does, iconPath: new vscode.ThemeIcon(icon), tooltip };
  }
}

function localState(hosts: Hosts): Parameters<typeof stateWords>[0] {
  const status = hosts.status(localHost);
  if (status === undefined) return undefined;
  return status.enabled ? { kind: 'enabled', status } : { kind: 'not-enabled' };
}

/**
 * Searches another host from now on: the one that is named, or that the user picks. Then asks it, so that what stands against it is
 * told now and not with the first search.
 */
export async function chooseHost(hosts: Hosts, named?: KnownHost): Promise<void> {
  const chosen = named ?? (await HostPicker.show(hosts));
  if (chosen === undefined) return;
  await hosts.choose(chosen);
  await greet(hosts, chosen.host);
}

async function greet(hosts: Hosts, host: string): Promise<void> {
  const name = hosts.name(host);
  const say = (text: string): void => void vscode.window.setStatusBarMessage(`$(check) ${text}`, 5000);
  if (isLocal(host)) {
    say(vscode.l10n.t('The sessions of this machine are searched.'));
    return;
  }
  const retry = (): Promise<void> => greet(hosts, host);
  hosts.states.retry(host);
  try {
    const status = await withPatience(host, name, async (token) => {
      // Whoever cancels this wants nobody to wait for the host.
      const cancelled = token.onCancellationRequested(() => hosts.states.stop(host));
      try {
        return await hosts.states.ask(host, new AbortController().signal);
      } finally {
        cancelled.dispose();
      }
    });
    if (status.enabled) say(vscode.l10n.t('The sessions of {0} are searched.', name));
    else await tellHostFailure(oneLine(notEnabled(host, name), 1000), host, true, { retry });
  } catch (error) {
    await reportHostFailure(error, host, { retry });
  }
}
