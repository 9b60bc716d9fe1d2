// node runhost.mjs newest|floor : runs out/host/*.test.js inside the extension host of a real VS Code.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumOptions, type Edition, paths, startEditor } from './editor';
import { makeHome } from './home';
import { makeOtherHosts } from './otherhosts';

const patience = 300_000;

async function main(edition: Edition): Promise<number> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'sessionls-host-'));
  const home = makeHome(root);
  const hosts = makeOtherHosts(root, home);
  // A repository that would like its own host to be asked.
  fs.mkdirSync(path.join(home.workspace, '.vscode'));
  fs.writeFileSync(path.join(home.workspace, '.vscode/settings.json'), JSON.stringify({ 'sessions.host': 'ssh:evil', 'sessions.view.groupBy': 'agent' }));
  const report = path.join(root, 'report.txt');
  const remarks: string[] = [];
  const editor = await startEditor({
    edition,
    state: path.join(root, 'state'),
    smoke: true,
    settings: { 'sessions.server.environment': home.environment },
  });
  // The tests read where their things are; the host is a child of the editor and has no other way to know.
  fs.writeFileSync(path.join(home.workspace, '.test.json'), JSON.stringify({ own: home.own, home: home.home, sshCalls: hosts.sshCalls, report }));
  const browser = await chromium.launch(chromiumOptions);
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const exit = new Promise<number>((resolve) => {
      void page.exposeFunction('codeAutomationExit', (code: number) => resolve(code));
      setTimeout(() => resolve(124), patience).unref();
    });
    await page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => remarks.push(args.map(String).join(' ')));
    const at = (folder: string): string => `vscode-remote://${new URL(editor.url).host}${folder}`;
    const payload = [
      ['extensionDevelopmentPath', at(paths.extension)],
      ['extensionTestsPath', at(path.join(paths.extension, 'out/host/index.js'))],
      ['skipWelcome', 'true'],
    ];
    await page.goto(`${editor.url}?folder=${encodeURIComponent(home.workspace)}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
    const code = await exit;
    console.log(fs.existsSync(report) ? fs.readFileSync(report, 'utf8') : remarks.join('\n'));
    if (code !== 0) await page.screenshot({ path: path.join(paths.extension, 'out', `host-${edition}.png`) });
    return code;
  } finally {
    await browser.close();
    await editor.stop();
    fs.rmSync(root, { recursive: true, force: true });
  }
}

const edition = process.argv[2];
if (edition !== 'newest' && edition !== 'floor') throw new Error('which edition? newest or floor');
process.exit(await main(edition));
