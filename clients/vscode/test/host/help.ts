// What the tests in the host share.

import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Api } from '../../src/extension';

export async function api(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>('sessionls.sessionls');
  if (extension === undefined) throw new Error('the extension is not there');
  return extension.activate();
}

/** Where the test's folders are; runhost writes it down. */
export function testPaths(): { readonly own: string; readonly home: string; readonly sshCalls: string; readonly report: string; readonly workspace: string } {
  const workspace = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
  return { workspace, ...(JSON.parse(fs.readFileSync(path.join(workspace, '.test.json'), 'utf8')) as { own: string; home: string; sshCalls: string; report: string }) };
}

/** Waits until something holds. mocha's time limit is the only one. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}

export async function untilCurrent(connection: Api['connection']): Promise<void> {
  await eventually(async () => {
    const { phase, sessions } = await connection.request('searchStatus', {});
    return (phase === 'current' || phase === 'degraded') && sessions > 0;
  });
}
