// Opens the search lists; there is at most one at a time.

import * as vscode from 'vscode';
import type { Consent } from '../consent';
import type { Hosts } from '../hosts/hosts';
import type { Connection } from '../server/connection';
import type { SessionActions, SessionSearcher } from '../session/actions';
import type { SessionRef } from '../session/ref';
import { EventPicker } from './eventpicker';
import { type PickerOptions, SearchPicker } from './picker';
import type { Surroundings } from './rows';

export class Searches implements SessionSearcher, vscode.Disposable {
  private open: SearchPicker | undefined;
  private actions: SessionActions | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly consent: Consent,
    private readonly hosts: Hosts,
    private readonly surroundings: () => Surroundings,
  ) {}

  /** The actions need the searches and these the actions; so they come later. */
  use(actions: SessionActions): void {
    this.actions = actions;
  }

  /** The list that is open. */
  get active(): SearchPicker | undefined {
    return this.open;
  }

  search(options: PickerOptions = {}): void {
    const { connection, consent, hosts, surroundings, actions } = this;
    if (actions === undefined) return;
    this.open?.dispose();
    const picker = new SearchPicker({ connection, consent, hosts, actions, surroundings }, options);
    picker.onDidClose(() => {
      if (this.open === picker) this.open = undefined;
    });
    this.open = picker;
    picker.open();
  }

  async searchIn(ref: SessionRef, query: string): Promise<void> {
    const { actions } = this;
    if (actions === undefined) return;
    await new EventPicker(this.connection, this.hosts, actions, this.surroundings, ref).open(query);
  }

  dispose(): void {
    this.open?.dispose();
  }
}
