// What the search list shows for each state of the search.

import * as vscode from 'vscode';
import { Consent } from '../consent';
import type { Hit, Status } from '../contract';
import { label } from '../words';
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
}

export function itemsOf(state: SearchState, status: Status | undefined, at: Surroundings, offers: Offers): Item[] {
  if (state.problem !== undefined) return problemItems(state.problem, offers);
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

/** Says what was searched, and offers what may find more. */
function emptyItems(state: SearchState, status: Status | undefined, at: Surroundings, offers: Offers): Item[] {
  const { t } = vscode.l10n;
  const { choices } = state;
  const searched = t('Searched: {0}', choicesInWords(state, at));
  const size = status === undefined ? '' : t('{0} sessions are indexed', status.sessions);
  const items = warnings(state);
  items.push(note(`$(search-stop) ${t('No session matches')}`, searched, size));
  if (status?.phase === 'indexing') items.push(note(`$(sync~spin) ${t('Still indexing; more may come')}`));
  if (choices.scopePaths.length > 0) items.push(offer(`$(globe) ${t('Search everywhere')}`, '', () => offers.everywhere()));
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
