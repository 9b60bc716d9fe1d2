// The buttons of the search list: of a row, and the toggles above.

import * as vscode from 'vscode';
import type { Hit } from '../contract';
import { isLocal, localHost } from '../hosts/host';
import type { Choices } from './model';

/** What can be done with the row that has the focus; each has a command and a key. */
export type RowAction = 'resume' | 'copyResume' | 'copyId' | 'reveal' | 'openBeside' | 'searchIn';
export type Toggle = 'where' | 'scope' | 'sort' | 'agents' | 'host';

export interface ActionButton extends vscode.QuickInputButton {
  readonly action: RowAction;
}
export interface ToggleButton extends vscode.QuickInputButton {
  readonly toggle: Toggle;
}

const icon = (id: string): vscode.ThemeIcon => new vscode.ThemeIcon(id);

/** Buttons for rows, made once for many. A session whose transcript is gone cannot be resumed; on another host there is no file to show. */
export function rowButtons(): (hit: Hit) => ActionButton[] {
  const { t } = vscode.l10n;
  const resume: ActionButton[] = [
    { action: 'resume', iconPath: icon('debug-continue'), tooltip: t('Resume in Terminal (Ctrl+Shift+R)') },
    { action: 'copyResume', iconPath: icon('terminal'), tooltip: t('Copy Resume Command') },
  ];
  const others: ActionButton[] = [
    { action: 'copyId', iconPath: icon('copy'), tooltip: t('Copy Session ID') },
    { action: 'searchIn', iconPath: icon('search'), tooltip: t('Search in This Session') },
  ];
  const file: ActionButton[] = [{ action: 'reveal', iconPath: icon('go-to-file'), tooltip: t('Open Transcript File') }];
  const elsewhere = [...resume, ...others];
  const present = [...elsewhere, ...file];
  return (hit) => (hit.source.presence === 'missing' ? others : isLocal(hit.executionHostId ?? localHost) ? present : elsewhere);
}

/** The toggles; one for the workspace only where there is a workspace. */
export function toggleButtons(choices: Choices, hasWorkspace: boolean, hostName: (host: string) => string): ToggleButton[] {
  const { t } = vscode.l10n;
  const buttons: ToggleButton[] = [];
  const here = choices.scopePaths.length > 0;
  if (hasWorkspace || here) {
    buttons.push({
      toggle: 'where',
      iconPath: icon(here ? 'root-folder' : 'globe'),
      tooltip: whereTooltip(choices, hostName),
    });
  }
  const talk = choices.scope === 'conversation';
  const newest = choices.sort === 'newest';
  buttons.push(
    {
      toggle: 'scope',
      iconPath: icon(talk ? 'comment' : 'list-flat'),
      tooltip: talk ? t('Only the conversation; click to search tool output, too (Alt+2)') : t('Conversation and tool output; click to search the conversation only (Alt+2)'),
    },
    {
      toggle: 'sort',
      iconPath: icon(newest ? 'history' : 'star-empty'),
      tooltip: newest ? t('Newest first; click for best first (Alt+3)') : t('Best first; click for newest first (Alt+3)'),
    },
    { toggle: 'agents', iconPath: icon(choices.agents.length > 0 ? 'filter-filled' : 'filter'), tooltip: t('Choose agents (Alt+4)') },
    { toggle: 'host', iconPath: icon(isLocal(choices.host) ? 'vm' : 'remote'), tooltip: t('On {0}; click to choose another host (Alt+5)', hostName(choices.host)) },
  );
  return buttons;
}

function whereTooltip(choices: Choices, hostName: (host: string) => string): string {
  const { t } = vscode.l10n;
  if (choices.scopePaths.length > 0) return t('In this workspace; click to search everywhere (Alt+1)');
  // A path of this machine says little about another one.
  return isLocal(choices.host)
    ? t('Everywhere; click to search in this workspace (Alt+1)')
    : t('Everywhere; click to search in folders of {0} with the paths of this workspace (Alt+1)', hostName(choices.host));
}
