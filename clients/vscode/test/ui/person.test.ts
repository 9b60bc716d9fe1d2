// What a person does, from the first start on, in one sitting: each step begins where
// the one before it has ended.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe } from 'node:test';
import { growing } from '../tools/growing';
import { steps } from './steps';
import { editionOfTest, Workbench } from './workbench';

describe(`a person at VS Code (${editionOfTest()})`, () => {
  let w: Workbench;
  const step = steps(() => w, 'failed');

  before(async () => {
    w = await Workbench.open(editionOfTest(), { 'sessions.search.pageSize': 10 });
  });
  after(async () => w.close());

  step('is asked for consent in a message, and says "Not now"', async () => {
    const question = w.message('Search the conversations you had with coding agents?');
    await question.waitFor();
    await w.picture('consent');
    await question.getByRole('button', { name: 'Not now' }).click();
    await question.waitFor({ state: 'hidden' });
    assert.ok(!fs.existsSync(`${w.home.own}/index.db`), 'an index was made without consent');
  });

  step('reads in the view what it is about', async () => {
    await w.openView();
    const welcome = w.page.locator('.welcome-view-content', { hasText: 'Nothing leaves the machine' });
    await welcome.waitFor();
    await welcome.getByRole('button', { name: 'Enable' }).waitFor();
  });

  step('is offered it in the search list, and enables it by keyboard', async () => {
    await w.search('harbour gauge');
    await w.take('Enable', w.row('Round the harbour gauge'));
    await w.dismiss();
    await w.status(/\d+ sessions/);
  });

  step('sees the sessions in the view, the live one marked', async () => {
    const live = w.treeItem(/live, Round the harbour gauge/);
    await live.waitFor();
    await w.clickEntry('tide DST fix', w.lines.filter({ hasText: 'tide DST fix' }));
    await w.clickEntry('tide DST fix', w.page.locator('[role="treeitem"][aria-expanded="true"]', { hasText: 'tide DST fix' }), '.monaco-tl-twistie');
    await w.scrollTo('List stations with DST');
    await w.picture('view');
  });

  step('searches while typing, moves with the arrows and opens at the hit', async () => {
    await w.search('rounded');
    await w.title.filter({ hasText: /— 4 sessions$/ }).waitFor();
    await w.focused(0);
    await w.picture('search');
    await w.move('ArrowDown', 1);
    await w.move('ArrowUp', 0);
    await w.input.fill('centimetres');
    await w.until(async () => /harbour gauge.*centimetres/.test((await w.rowTexts())[0] ?? ''));
    await w.take('Round the harbour gauge', w.tab(`${growing.sessionId}.md`));
    await w.lines.filter({ hasText: 'centimetres' }).waitFor();
    await w.until(async () => (await w.selected()) === 'centimetres');
  });

  step('walks through the matches', async () => {
    await w.toMatch('F8');
    await w.picture('transcript');
    await w.toMatch('Shift+F8');
  });

  step('sees the document follow while the session goes on', async () => {
    w.home.say('user', 'One more thing: the foghorn, please.');
    await w.key('Control+End');
    await w.until(async () => {
      await w.key('Control+End');
      return (await w.lines.innerText()).replace(/\s/g, ' ').includes('foghorn');
    });
  });

  step('searches in this session', async () => {
    await w.openList('Control+k', 'Control+f');
    await w.title.filter({ hasText: 'Search in: Round the harbour gauge' }).waitFor();
    await w.type('negative');
    await w.take(/negative heights/i, async () => !(await w.input.isVisible()));
    await w.until(async () => /negative/i.test(await w.selected()));
  });

  step('finds a session among the symbols of the workspace, by a word of its body', async () => {
    await w.dismiss();
    await w.openList('Control+t');
    await w.page.keyboard.type('barometer'); // behind the # that is there
    await w.row('Round the harbour gauge').waitFor();
    await w.picture('symbols');
    await w.take('Round the harbour gauge', async () => !(await w.input.isVisible()));
    await w.statusText(/Ln 19, Col 43/); // where the word is
  });

  step('resumes a session in a terminal, by key', async () => {
    await w.search('barometer');
    await w.title.filter({ hasText: /— 1 session$/ }).waitFor();
    await w.focused(0);
    // It is live, so it may be open elsewhere.
    await w.listKey('Control+Shift+r', w.page.locator('.monaco-dialog-box'));
    await w.dialog('Resume "Round the harbour gauge"?', 'Resume Anyway');
    await w.until(() => fs.existsSync(w.home.calls));
    assert.equal(fs.readFileSync(w.home.calls, 'utf8').trim(), `${w.home.workspace} --resume ${growing.sessionId}`);
    await w.page.locator('.terminal-wrapper.active').waitFor();
    await w.picture('resume');
    await w.command('Terminal: Kill All Terminals');
  });

  step('copies id and command by key', async () => {
    await w.search('barometer');
    await w.title.filter({ hasText: /— 1 session$/ }).waitFor();
    await w.focused(0);
    await w.listKey('Control+Shift+y', async () => (await w.clipboard()) === growing.sessionId);
    await w.listKey('Control+Shift+c', async () => (await w.clipboard()) === `claude --resume ${growing.sessionId}`);
    await w.dismiss();
  });

  step('changes where, what and in which order is searched', async () => {
    await w.search('tide');
    await w.title.filter({ hasText: /^Agent Sessions — \d+ sessions/ }).waitFor();
    await w.listKey('Alt+1', w.title.filter({ hasText: 'Sessions of this workspace' }));
    await w.row('No session matches').waitFor();
    // What is offered has the focus.
    await w.take('Search everywhere', w.title.filter({ hasText: /^Agent Sessions — \d+ sessions/ }));
    await w.listKey('Alt+2', w.title.filter({ hasText: 'Agent Sessions · conversation only' }));
    await w.listKey('Alt+3', w.title.filter({ hasText: 'Agent Sessions · conversation only · newest first' }));
    await w.dismiss();
  });

  step('gets more sessions at the end of the list', async () => {
    await w.search('tide');
    await w.title.filter({ hasText: /— [3-9]\d sessions$/ }).waitFor();
    const size = async (): Promise<number> => Number(await w.rows.first().getAttribute('aria-setsize'));
    assert.ok((await size()) <= 11);
    await w.until(async () => {
      await w.key('ArrowDown');
      return (await size()) > 15;
    });
    await w.dismiss();
  });

  step('is told what is wrong in a query', async () => {
    await w.search('agent:clude tide');
    await w.page.locator('.quick-input-list', { hasText: 'agent:clude' }).waitFor();
    await w.row('tide').waitFor();
    await w.dismiss();
  });

  step('searches a selection, an error, a file', async () => {
    await w.openFile('broken.json');
    await w.key('Control+Home', 'Control+Shift+End');
    await w.openList('Control+k', 'Shift+a');
    await w.until(async () => (await w.inputValue()).startsWith('{ "gauge": [1, 2, }'));
    await w.dismiss();
    await w.until(async () => (await w.page.locator('.squiggly-error').count()) > 0);
    await w.key('Control+Home', 'End');
    await w.command('Sessions: Search This Error');
    await w.until(async () => /expected/i.test(await w.inputValue()));
    await w.dismiss();
    await w.command('Sessions: Sessions That Touched This File');
    await w.until(async () => (await w.inputValue()) === 'file:"broken.json"');
    await w.dismiss();
  });

  step('gets an answer although the server is killed during the search', async () => {
    await w.search('ga');
    await w.row('gauge').waitFor();
    const [server] = w.servers();
    assert.ok(server !== undefined);
    process.kill(server, 'SIGSTOP'); // so that the search is surely under way
    await w.page.keyboard.type('uge');
    await w.page.waitForTimeout(200);
    process.kill(server, 'SIGKILL');
    await w.until(() => w.servers().some((pid) => pid !== server));
    await w.until(async () => /gauge/.test((await w.rowTexts())[0] ?? ''));
    await w.dismiss();
  });

  step('opens the status page', async () => {
    await w.page.getByRole('button', { name: 'Group Sessions' }).first().waitFor(); // the view knows of the new server
    await w.insist(() => w.statusItem.click(), w.tab(/Agent Sessions Status/));
    await w.page.waitForTimeout(500);
  });

  step('clears the index after being asked', async () => {
    await w.command('Sessions: Clear Index…');
    await w.dialog('Delete the index of your agent sessions?', 'Clear Index');
    await w.message('The index was deleted and is built anew.').waitFor();
    await w.status(/\d+ sessions/);
  });

  step('has asked no other host', () => {
    assert.deepEqual(w.elsewhere, []);
  });
});
