// The settings, read where they are needed: nothing keeps a copy that could be old.

import * as vscode from 'vscode';
import type { Freshness, Scope, Shell, Sort, ToolsShown } from './contract';

export const section = 'sessions';

export type Where = 'workspace' | 'everywhere';
export type GroupBy = 'newest' | 'project' | 'agent';

interface Values {
  'server.path': string;
  'server.environment': Record<string, string>;
  'server.commandPrefix': string;
  'server.statusNotifications': boolean;
  host: string;
  'search.where': Where;
  'search.scope': Scope;
  'search.sort': Sort;
  'search.freshness': Freshness;
  'search.pageSize': number;
  'search.delay': number;
  'transcript.thinking': boolean;
  'transcript.tools': ToolsShown;
  'resume.shell': 'auto' | Shell;
  'resume.execute': boolean;
  'view.groupBy': GroupBy;
  'view.where': Where;
  'statusBar.visible': boolean;
  workspaceSymbols: boolean;
}

export type SettingName = keyof Values;

/** The value of a setting; package.json has the defaults. */
export function setting<N extends SettingName>(name: N): Values[N] {
  return vscode.workspace.getConfiguration(section).get(name) as Values[N];
}

/** The value that the user has given a setting, or its default: what a workspace says of it does not count. */
export function userSetting<N extends SettingName>(name: N): Values[N] {
  const found = vscode.workspace.getConfiguration(section).inspect<Values[N]>(name);
  return (found?.globalValue ?? found?.defaultValue) as Values[N];
}

/** Writes a setting for the user, where the user has set it for the workspace there. */
export async function changeSetting<N extends SettingName>(name: N, value: Values[N]): Promise<void> {
  const configuration = vscode.workspace.getConfiguration(section);
  const target =
    configuration.inspect(name)?.workspaceValue === undefined
      ? vscode.ConfigurationTarget.Global
      : vscode.ConfigurationTarget.Workspace;
  await configuration.update(name, value, target);
}

/** Calls back when one of these settings has changed. */
export function onSettingChange(names: readonly SettingName[], then: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((e) => {
    if (names.some((name) => e.affectsConfiguration(`${section}.${name}`))) then();
  });
}
