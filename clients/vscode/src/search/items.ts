// What the search list shows for each state of the search.

import * as vscode from 'vscode';
import { Consent } from '../consent';
import type { Hit, Status } from '../contract';
import { enableCommand, isLocal } from '../hosts/host';
import { notEnabled } from '../hosts/messages';
import { wrapped } from '../hosts/words';
import { label, project } from '../words';
import { type ActionButton, rowButtons } from './buttons';
import type { Problem, SearchState } from './model';
import { plainWords } from './query';
import { choicesInWords, diagnosticLines, hitRow, type Surroundings } from './rows';

export interface HitItem extends vscode.QuickPickItem {
  readonly shows: 'hit';
  readonly hit: Hit;
  readonly buttons: ActionButton[];
}
/** A row that does something when it is accepted. */
export interface OfferItem extends vscode.QuickPickItem {
  readonly shows: 'offer';
  accept(): void;
}
/** A row or a separator that only says something. */
export interface NoteItem extends vscode.QuickPickItem {
  readonly shows: 'note';
}
export type Item = HitItem | OfferItem | NoteItem;

/** What rows can offer. */
export interface Offers {
  enable(): void;
  notNow(): void;
  restart(): void;
  more(): void;
  everywhere(): void;
  allText(): void;
  allAgents(): void;
  retype(query: string): void;
  /** Asks again a host that gave no answer. */
  retry(): void;
  anotherHost(): void;
  showLog(): void;
  copy(text: string): void;
}

/** So many characters of a row are seen at once. */
const width = 84;

export function itemsOf(state: SearchState, status: Status | undefined, at: Surroundings, offers: Offers): Item[] {
  if (state.problem !== undefined) return isLocal(state.choices.host) ? problemItems(state.problem, offers) : hostProblemItems(state.problem, state.choices.host, at, offers);
  if (state.hits.length > 0) return hitItems(state, at, offers);
  return state.answered === undefined ? [] : emptyItems(state, status, at, offers);
}

function hitItems(state: SearchState, at: Surroundings, offers: Offers): Item[] {
  const { t } = vscode.l10n;
  const items = warnings(state);
  if (state.truncated?.query === true) items.push(separator(t('Only the first part of this long query was used')));
  if (state.truncated?.freshness === true) items.push(separator(t('The newest lines may be missing; still indexing')));
  const buttons = rowButtons();
  for (const hit of state.hits) {
    items.push({ shows: 'hit', hit, ...hitRow(hit, at), alwaysShow: true, buttons: buttons(hit) });
  }
  if (state.hasMore) items.push(offer(`$(ellipsis) ${t('More sessions…')}`, '', () => offers.more()));
  return items;
}

function problemItems(problem: Problem, offers: Offers): Item[] {
  const { t } = vscode.l10n;
  const restart = offer(`$(debug-restart) ${t('Restart the Session Server')}`, '', () => offers.restart());
  if (problem.kind === 'error') return [note(`$(error) ${label(problem.message)}`), restart];
  switch (problem.reason) {
    case 'disabled': {
      const { message, detail, yes, no } = Consent.words();
      return [separator(message), offer(`$(check) ${yes}`, detail, () => offers.enable()), offer(`$(close) ${no}`, '', () => offers.notNow())];
    }
    case 'not-ready':
      return [note(`$(warning) ${t('The index cannot be opened. The log tells why.')}`), restart];
    case 'no-service':
      return [note(`$(warning) ${t('That host has no session search.')}`)];
  }
}

/** What a host that is being asked for the first time looks like. */
export function waitingItems(host: string, at: Surroundings, offers: Offers): Item[] {
  const { t } = vscode.l10n;
  return [
    note(`$(loading~spin) ${t('Asking {0}…', at.hostName(host))}`, t('The first answer may take up to half a minute. Escape stops it.')),
    offer(`$(remote) ${t('Choose another host…')}`, '', () => offers.anotherHost()),
  ];
}

/** Nothing that is done on this machine mends another one, so other things are offered. */
function hostProblemItems(problem: Problem, host: string, at: Surroundings, offers: Offers): Item[] {
  const { t } = vscode.l10n;
  const name = at.hostName(host);
  const another = offer(`$(remote) ${t('Choose another host…')}`, '', () => offers.anotherHost());
  const retry = offer(`$(refresh) ${t('Retry')}`, '', () => offers.retry());
  const log = offer(`$(output) ${t('Show Log')}`, '', () => offers.showLog());
  if (problem.kind === 'error') return [...told('error', problem.message), another, retry, log];
  switch (problem.reason) {
    case 'disabled': {
      const command = enableCommand(host);
      const copy = command === undefined ? [] : [offer(`$(copy) ${t('Copy: {0}', label(command, 100))}`, '', () => offers.copy(command))];
      return [...told('circle-slash', notEnabled(host, name)), ...copy, retry, another];
    }
    case 'not-ready':
      return [...told('warning', t('The index of {0} cannot be opened. Its own log tells why.', name)), retry, another];
    case 'no-service':
      return [...told('warning', t('sessionls on {0} is too old to be searched from here; install a newer one there.', name)), another, retry];
  }
}

/** A text that is longer than a row, in full: a list cuts off what does not fit. */
function told(icon: string, text: string): NoteItem[] {
  const lines = wrapped(label(text, 1000), width);
  const rows: NoteItem[] = [];
  for (let i = 0; i < lines.length; i += 2) rows.push(note(`$(${i === 0 ? icon : 'blank'}) ${lines[i] ?? ''}`, lines[i + 1] === undefined ? '' : `$(blank) ${lines[i + 1] ?? ''}`));
  return rows;
}

/** Says what was searched, and offers what may find more. */
function emptyItems(state: SearchState, status: Status | undefined, at: Surroundings, offers: Offers): Item[] {
  const { t } = vscode.l10n;
  const { choices } = state;
  const searched = t('Searched: {0}', choicesInWords(state, at));
  const size = status === undefined ? '' : t('{0} sessions are indexed', status.sessions);
  const items = warnings(state);
  items.push(note(`$(search-stop) ${t('No session matches')}`, searched, size));
  if (status?.phase === 'indexing') items.push(note(`$(sync~spin) ${t('Still indexing; more may come')}`));
  if (choices.scopePaths.length > 0) {
    items.push(offer(`$(globe) ${t('Search everywhere')}`, '', () => offers.everywhere()));
    const name = project(choices.scopePaths[0] ?? null).replace(/"/g, '');
    if (!isLocal(choices.host) && name !== '') {
      const query = `repo:"${name}" ${state.query}`.trim();
      items.push(offer(`$(repo) ${t('Search projects of this name: {0}', label(name, 60))}`, t('There a project may lie in another folder. Only the same paths were searched: {0}', label(choices.scopePaths.join(', '), 100)), () => {
        offers.everywhere();
        offers.retype(query);
      }));
    }
  }
  if (choices.scope === 'conversation') items.push(offer(`$(list-flat) ${t('Search tool output, too')}`, '', () => offers.allText()));
  if (choices.agents.length > 0) items.push(offer(`$(hubot) ${t('Search all agents')}`, '', () => offers.allAgents()));
  const plain = plainWords(state.query);
  if (plain !== undefined) items.push(offer(`$(edit) ${t('Search for: {0}', label(plain, 60))}`, '', () => offers.retype(plain)));
  return items;
}

function warnings(state: SearchState): Item[] {
  return diagnosticLines(state).map((line) => separator(`$(warning) ${line}`));
}

function separator(text: string): NoteItem {
  return { shows: 'note', kind: vscode.QuickPickItemKind.Separator, label: text };
}

function note(text: string, detail = '', description = ''): NoteItem {
  return { shows: 'note', label: text, ...(detail === '' ? {} : { detail }), ...(description === '' ? {} : { description }), alwaysShow: true };
}

function offer(text: string, detail: string, accept: () => void): OfferItem {
  return { shows: 'offer', label: text, ...(detail === '' ? {} : { detail }), alwaysShow: true, accept };
}
