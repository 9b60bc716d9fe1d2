// What a person does whose agents run on other hosts, in one sitting. Search on this machine is
// not enabled, to begin with: another host has its own consent.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe } from 'node:test';
import { makeOtherHosts, type OtherHosts } from '../tools/otherhosts';
import { remote, remoteFolder, remoteParent } from '../tools/remote';
import { steps } from './steps';
import { editionOfTest, Workbench } from './workbench';

describe(`a person with other hosts (${editionOfTest()})`, () => {
  let w: Workbench;
  let hosts: OtherHosts;
  const step = steps(() => w, 'hosts-failed');

  const hostsTitle = () => w.title.filter({ hasText: 'Search the sessions of which host?' });
  /** Opens the list of hosts, from wherever. */
  const chooseHost = async (): Promise<void> => {
    await w.command('Sessions: Choose Host…');
    await hostsTitle().waitFor();
    await w.row('Dev container').waitFor();
  };
  /** Chooses the host of that row. */
  const pick = async (name: string): Promise<void> => {
    await w.input.fill(name);
    await w.until(async () => (await w.rowTexts())[0]?.includes(name) === true);
    await w.take(name, async () => !(await hostsTitle().isVisible()));
  };
  const alive = (pid: number): boolean => fs.existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  const button = (message: string | RegExp, name: string) => w.message(message).getByRole('button', { name });

  before(async () => {
    w = await Workbench.open(editionOfTest(), {}, undefined, (root, home) => {
      hosts = makeOtherHosts(root, home);
      // A repository that would like to be asked.
      fs.mkdirSync(`${home.workspace}/.vscode`);
      fs.writeFileSync(`${home.workspace}/.vscode/settings.json`, JSON.stringify({ 'sessions.host': 'ssh:evil' }));
    });
  });
  after(async () => w.close());

  step('does not enable the search of this machine', async () => {
    const question = w.message('Search the conversations you had with coding agents?');
    await question.getByRole('button', { name: 'Not now' }).click();
    await question.waitFor({ state: 'hidden' });
    await w.openView();
    await w.page.locator('.welcome-view-content', { hasText: 'Nothing leaves the machine' }).waitFor();
  });

  step('sees which hosts there are, and how those of the configuration stand', async () => {
    await w.insist(() => w.page.locator('.pane-header, .composite.title').getByRole('button', { name: 'Choose Host…' }).first().click(), hostsTitle());
    await w.row('This machine').filter({ hasText: 'searched now' }).waitFor();
    await w.row('Dev container').filter({ hasText: /\d+ sessions, up to date/ }).waitFor();
    await w.row('Stopped box').filter({ hasText: 'the environment is not running' }).waitFor();
    await w.row('Silent box').filter({ hasText: 'search is not switched on' }).waitFor();
    await w.row('Slow box').filter({ hasText: 'asking…' }).waitFor();
    await w.row('pier').filter({ hasText: 'ssh:pier' }).waitFor();
    await w.picture('hosts');
    await w.input.fill('Silent');
    await w.row('hosts.broken has no command; ignored').waitFor();
    assert.ok(!fs.existsSync(hosts.sshCalls), 'a host of ssh was asked unbidden');
    await w.dismiss();
    await w.until(() => hosts.hanging().length > 0 && hosts.hanging().every((pid) => !alive(pid)));
  });

  step('chooses one; view, status bar and search say so', async () => {
    await chooseHost();
    await pick('Dev container');
    await w.statusText(/The sessions of Dev container are searched/);
    await w.treeItem(remote.title).waitFor();
    await w.page.locator('.pane-body', { hasText: 'Sessions on Dev container' }).first().waitFor();
    await w.page.locator('[id="sessionls.sessionls.sessions.status"] [aria-label*="Searched is Dev container, not this machine"]').waitFor();
    const menu = w.page.locator('.monaco-menu .action-item');
    await w.insist(() => w.treeItem(remote.title).click({ button: 'right' }), menu.filter({ hasText: 'Copy Resume Command' }));
    assert.equal(await menu.filter({ hasText: /Forget Session|Open Transcript File/ }).count(), 0);
    await w.insist(() => w.key('Escape'), async () => (await menu.count()) === 0);
    await w.search('dredging basin');
    await w.title.filter({ hasText: /^Sessions on Dev container — 1 session$/ }).waitFor();
    await w.row(remote.title).filter({ hasText: 'Dev container · Claude Code · harbour · basin' }).waitFor();
    assert.equal(await w.rows.getByRole('button', { name: 'Open Transcript File' }).count(), 0);
    await w.listKey('Control+Shift+e', w.message('The transcript of this session lies on Dev container.'));
  });

  step('opens a session at the match, and reads it anew when it has gone on', async () => {
    await w.search('dredging basin');
    await w.row(remote.title).waitFor();
    await w.take(remote.title, w.tab(`${remote.sessionId}.md`));
    await w.lines.filter({ hasText: 'silts' }).waitFor();
    await w.until(async () => /dredg|basin/i.test(await w.selected()));
    await w.toMatch('F8');
    hosts.say('user', 'And the lighthouse?');
    await w.until(async () => {
      // The other side's index follows within moments.
      await w.page.getByRole('button', { name: 'Refresh Transcript' }).click();
      await w.page.waitForTimeout(500);
      await w.intoEditor();
      await w.key('Control+End');
      return (await w.lines.innerText()).replace(/\s/g, ' ').includes('lighthouse');
    });
  });

  step('finds who touched a file, by its path below the project', async () => {
    await w.openFile('src/gauge.ts', 'gauge.ts');
    await w.command('Sessions: Sessions That Touched This File');
    await w.until(async () => (await w.inputValue()) === 'file:"src/gauge.ts"');
    await w.row(remote.title).waitFor();
    await w.dismiss();
  });

  step('searches in this workspace there: by path, and where that finds nothing by name', async () => {
    await w.search('dredging');
    await w.row(remote.title).waitFor();
    await w.listKey('Alt+1', w.title.filter({ hasText: 'Sessions in the paths of this workspace on Dev container' }));
    await w.row('No session matches').filter({ hasText: 'Dev container · this workspace' }).waitFor();
    const byName = w.row('Search projects of this name: harbour').filter({ hasText: w.home.workspace });
    await byName.waitFor();
    await w.insist(() => byName.click(), async () => (await w.inputValue()) === 'repo:"harbour" dredging');
    await w.row(remote.title).waitFor();
    await w.dismiss();
  });

  step('resumes it in a terminal, by the command of that environment', async () => {
    await w.search('dredging');
    await w.row(remote.title).waitFor();
    await w.focused(0);
    await w.listKey('Control+Shift+r', () => fs.existsSync(hosts.terminalCalls));
    assert.equal(fs.readFileSync(hosts.terminalCalls, 'utf8').trim(), `sh -c cd ${remoteFolder} && claude --resume ${remote.sessionId}`);
    await w.command('Terminal: Kill All Terminals');
  });

  step('is told where that cannot be done', async () => {
    await chooseHost();
    await pick('Bare box');
    await w.statusText(/The sessions of Bare box are searched/);
    await w.search('dredging');
    await w.row('Bare box · Claude Code').waitFor();
    await w.focused(0);
    await w.listKey('Control+Shift+r', w.message(/This session cannot be resumed from here\. The configuration file has no hosts\.bare\.terminal/));
    await button('This session cannot be resumed from here', 'Copy Session ID').click();
    await w.until(async () => (await w.clipboard()) === remote.sessionId);
  });

  step('goes back to this machine; an open session stays with its host', async () => {
    await chooseHost();
    await pick('Dev container');
    await w.statusText(/The sessions of Dev container are searched/);
    await w.search(remoteParent.title);
    await w.row(remoteParent.title).filter({ hasText: 'Dev container' }).waitFor();
    await w.take(remoteParent.title, w.lines.filter({ hasText: remoteParent.title }));
    await w.search('');
    await w.listKey('Alt+5', hostsTitle());
    await pick('This machine');
    await w.title.filter({ hasText: 'Agent Sessions' }).waitFor();
    await w.row('Enable').waitFor();
    await w.insist(() => w.row('Enable').click(), w.row('Round the harbour gauge'));
    assert.equal(await w.row('Dev container').count(), 0);
    await w.dismiss();
    await w.treeItem('Round the harbour gauge').waitFor();

    await w.intoEditor();
    await w.openList('Control+k', 'Control+f');
    await w.title.filter({ hasText: `Search in: ${remoteParent.title} – on Dev container` }).waitFor();
    await w.type('tide');
    await w.row('tide').waitFor();
    await w.dismiss();
    await w.command('Sessions: Show Sub-Agents of This Session');
    await w.tab(/agent-a7c31f9/).waitFor();
    // The mark of another host, on the tab.
    await w.until(() => w.page.evaluate<boolean>(`[...document.querySelectorAll('.tab.active *')].some((e) => getComputedStyle(e, '::after').content.includes('↗'))`));
  });

  step('is told why a host gives no answer, and is helped to another', async () => {
    await chooseHost();
    await pick('Stopped box');
    const message = /runtime:gone: the service ended before it answered, with exit code 1 \(the environment is not running\)/;
    await w.message(message).waitFor();
    await w.page.locator('.pane-body', { hasText: message }).first().waitFor();
    await w.treeItem('Choose Another Host…').waitFor();
    await w.search('tide');
    await w.row('runtime:gone: the service ended before it answered').waitFor();
    await w.row('Retry').waitFor();
    await w.row('Choose another host…').waitFor();
    await w.dismiss();
    await w.insist(() => button(message, 'Choose Another Host').click(), w.row('Dev container'));
    await w.dismiss();
  });

  step('is told of a host that is not enabled, and finds there once it is', async () => {
    await chooseHost();
    await pick('Silent box');
    await w.message(/Silent box has no session search that is switched on/).waitFor();
    await w.treeItem('Retry').waitFor();
    await w.search('tide');
    await w.row('Silent box has no session search that is switched on').waitFor();
    assert.equal(await w.row(/Enable/).count(), 0, 'the consent of another host was offered here');
    hosts.enable();
    // A search of the last key may just find the same.
    const none = w.row('No session matches').filter({ hasText: 'Silent box' });
    await w.until(async () => {
      await w.row('Retry').click({ timeout: 1000 }).catch(() => undefined);
      return none.waitFor({ timeout: 1000 }).then(() => true, () => false);
    });
    await w.dismiss();
  });

  step('is not held up by a host that hangs, and stops it', async () => {
    await chooseHost();
    await w.until(() => hosts.hanging().some(alive)); // the list itself asks
    const before = hosts.hanging().length;
    await pick('Slow box');
    const progress = w.message('Asking Slow box. The first answer may take up to half a minute.');
    await progress.waitFor();
    await w.page.locator('.pane-body', { hasText: 'Asking Slow box.' }).first().waitFor();
    assert.equal(await w.page.locator('.pane-body').getByRole('treeitem').count(), 0, 'rows of the host before');
    await w.search('ti');
    await w.row('Asking Slow box…').waitFor();
    await w.page.keyboard.type('de tables', { delay: 120 });
    // Once more if the list had closed before anybody else asked.
    assert.ok(hosts.hanging().length <= before + 1, 'the host was started anew with each key');
    await w.dismiss();
    await progress.getByRole('button', { name: 'Cancel' }).click();
    await progress.waitFor({ state: 'hidden' });
    await w.until(() => hosts.hanging().every((pid) => !alive(pid)));
    await w.page.locator('.pane-body', { hasText: 'Slow box was not waited for.' }).first().waitFor();
    // Stopped in the list by closing it.
    await w.search('tide');
    await w.row('Asking Slow box…').waitFor();
    await w.until(() => hosts.hanging().some(alive));
    await w.dismiss();
    await w.until(() => hosts.hanging().every((pid) => !alive(pid)));
  });

  step('types a host of ssh: one that is not there, and one that is', async () => {
    await chooseHost();
    await w.input.fill('ssh:-x');
    await w.row('This is no name of a host').waitFor();
    await w.input.fill('dev@nowhere');
    await w.take('ssh:dev@nowhere', w.message(/ssh:dev@nowhere: ssh does not know this host/));
    await chooseHost();
    await w.row('dev@nowhere').filter({ hasText: 'searched now' }).waitFor();
    await pick('pier');
    await w.statusText(/The sessions of pier are searched/);
    await w.search('dredging');
    await w.row(remote.title).filter({ hasText: 'pier' }).waitFor();
    await w.focused(0);
    await w.listKey('Control+Shift+r', () => fs.readFileSync(hosts.sshCalls, 'utf8').includes(`-t pier cd ${remoteFolder} && claude --resume ${remote.sessionId}`));
    await w.command('Terminal: Kill All Terminals');
    // It can be dropped from the list again.
    await chooseHost();
    await w.input.fill('nowhere'); // it may lie below the edge of the list
    await w.row('dev@nowhere').waitFor();
    await w.insist(async () => {
      await w.row('dev@nowhere').hover();
      await w.row('dev@nowhere').getByRole('button', { name: 'Do Not Offer This Host Any More' }).click();
    }, async () => (await w.rowTexts()).every((text) => !text.includes('dev@nowhere')));
    await w.dismiss();
  });

  step('finds the choice again in the next window of this workspace', async () => {
    await w.page.reload({ waitUntil: 'domcontentloaded' });
    await w.page.locator('[id="sessionls.sessionls.sessions.status"] [aria-label*="Searched is pier, not this machine"]').waitFor();
    await w.search('');
    await w.title.filter({ hasText: /^Sessions on pier — \d+ sessions$/ }).waitFor();
    await w.input.fill('dredging');
    await w.title.filter({ hasText: /^Sessions on pier — 1 session$/ }).waitFor();
    await w.dismiss();
    assert.ok(!fs.readFileSync(hosts.sshCalls, 'utf8').includes('evil'), 'the settings of a workspace were followed');
  });

  step('has asked no host on the network', () => {
    assert.deepEqual(w.elsewhere, []);
  });
});
