// A person at a real workbench: keys, lists, messages.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { chromiumOptions, type Edition, type Editor, paths, startEditor } from '../tools/editor';
import { makeHome, type TestHome } from '../tools/home';

/** Generous: the machine may be busy. Nothing here is a measurement. */
const patience = Number(process.env['PATIENCE'] ?? 120) * 1000;

/** What a person sees come of what they do. */
export type Sight = Locator | (() => Promise<boolean> | boolean);

export class Workbench {
  private constructor(
    readonly edition: Edition,
    readonly home: TestHome,
    readonly page: Page,
    private readonly root: string,
    private readonly editor: Editor,
    private readonly browser: Browser,
    /** Hosts other than this one that the page has asked. */
    readonly elsewhere: string[],
  ) {}

  /** Opens a workbench over a home of invented sessions, or over that of somebody; prepare may add to it before. */
  static async open(edition: Edition, settings: Record<string, unknown> = {}, someHome?: string, prepare?: (root: string, home: TestHome) => void): Promise<Workbench> {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'sessionls-ui-'));
    const home = makeHome(root);
    prepare?.(root, home);
    const editor = await startEditor({
      edition,
      state: path.join(root, 'state'),
      vsix: path.join(paths.extension, 'sessionls.vsix'),
      settings: {
        'sessions.server.environment': someHome === undefined ? home.environment : { ...home.environment, HOME: someHome, XDG_CONFIG_HOME: `${someHome}/.config` },
        'terminal.integrated.env.linux': { PATH: home.environment['PATH'], PS1: '$ ' },
        'terminal.integrated.defaultProfile.linux': 'sh',
        'terminal.integrated.profiles.linux': { sh: { path: '/bin/sh' } },
        ...settings,
      },
    });
    const browser = await chromium.launch(chromiumOptions);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    const elsewhere: string[] = [];
    page.on('request', (r) => {
      const url = new URL(r.url());
      // Resources of a webview have made-up addresses, which the editor answers itself.
      if (url.protocol.startsWith('http') && url.hostname !== '127.0.0.1' && !url.hostname.includes('.vscode-resource.')) elsewhere.push(url.host);
    });
    const workbench = new Workbench(edition, home, page, root, editor, browser, elsewhere);
    await page.goto(`${editor.url}?folder=${encodeURIComponent(home.workspace)}`, { waitUntil: 'domcontentloaded' });
    await workbench.statusItem.waitFor();
    return workbench;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.editor.stop();
    fs.rmSync(this.root, { recursive: true, force: true });
  }

  get statusItem(): Locator {
    return this.page.locator('[id="sessionls.sessionls.sessions.status"]');
  }

  get rows(): Locator {
    return this.page.locator('.quick-input-list .monaco-list-row');
  }

  row(text: string | RegExp): Locator {
    return this.rows.filter({ hasText: text }).first();
  }

  /** Waits until that row of the list has the focus; 0 is the first. */
  async focused(index: number): Promise<void> {
    await this.page.locator(`.quick-input-list .monaco-list-row.focused[data-index="${index}"]`).waitFor();
  }

  /** Presses an arrow until that row has the focus: an answer that comes just then sets it back to the first. */
  async move(arrow: 'ArrowDown' | 'ArrowUp', index: number): Promise<void> {
    await this.insist(() => this.key(arrow), this.page.locator(`.quick-input-list .monaco-list-row.focused[data-index="${index}"]`), 1500);
  }

  /** Takes the row that has the focus. */
  async take(row: string | RegExp, seen: Sight): Promise<void> {
    const focused = this.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: row }).first();
    await focused.waitFor();
    await this.insist(async () => {
      if (await focused.isVisible()) await this.key('Enter');
    }, seen, 3000);
  }

  /** Presses a key of the list; in the editor below it may mean something else. */
  async listKey(key: string, seen: Sight): Promise<void> {
    await this.insist(async () => {
      if (await this.input.isVisible()) await this.key(key);
    }, seen);
  }

  get input(): Locator {
    return this.page.locator('.quick-input-widget input.input').first();
  }

  get title(): Locator {
    return this.page.locator('.quick-input-title');
  }

  message(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text }).first();
  }

  /** The lines of the active text editor that are on the screen. */
  get lines(): Locator {
    return this.page.locator('.editor-group-container.active .view-lines');
  }

  async key(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Runs commands through the palette, which lists only what was known when it opened. */
  async command(...titles: string[]): Promise<void> {
    for (const title of titles) {
      const typed = async (): Promise<boolean> => (await this.inputValue()) === `>${title}`;
      const focused = this.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: title });
      await this.insist(async () => {
        await this.dismiss();
        await this.openList('F1');
        await this.input.fill(`>${title}`);
      }, focused, 5000);
      await this.take(title, async () => !(await typed()));
    }
  }

  async openFile(name: string, tab = name): Promise<void> {
    await this.dismiss();
    await this.openList('Control+p');
    await this.input.fill(this.home.workspace + '/' + name);
    await this.take(tab, this.tab(tab));
    await this.intoEditor();
  }

  /** Clicks into the active text editor. */
  async intoEditor(): Promise<void> {
    const editor = this.page.locator('.editor-group-container.active .monaco-editor').first();
    await this.insist(() => editor.click(), this.page.locator('.editor-group-container.active .monaco-editor.focused').first());
  }

  /** Waits for a question and answers it. */
  async dialog(question: string, answer: string): Promise<void> {
    const box = this.page.locator('.monaco-dialog-box', { hasText: question });
    await box.waitFor();
    await box.getByRole('button', { name: answer }).click();
    await box.waitFor({ state: 'hidden' });
  }

  tab(name: string | RegExp): Locator {
    return this.page.locator('.tab.active', { hasText: name }).first();
  }

  treeItem(name: string | RegExp): Locator {
    return this.page.getByRole('treeitem', { name }).first();
  }

  /** Clicks that entry of the view, or something in it. */
  async clickEntry(name: string | RegExp, seen: Sight, inside?: string): Promise<void> {
    await this.insist(async () => {
      const entry = await this.scrollTo(name);
      await (inside === undefined ? entry : entry.locator(inside)).click();
    }, seen);
  }

  /** Scrolls the view to that entry: the tree has no rows for what is not on the screen, and gets others while the index grows. */
  async scrollTo(name: string | RegExp): Promise<Locator> {
    const item = this.treeItem(name);
    const tree = this.page.getByRole('tree').filter({ has: this.page.getByRole('treeitem') }).last();
    let turns = 0;
    await this.until(async () => {
      if (await item.isVisible()) return true;
      await tree.hover();
      // Five rows: none is passed over. Now and then from the top again: it may lie above by now.
      await this.page.mouse.wheel(0, ++turns % 40 === 0 ? -100_000 : 110);
      return item.waitFor({ timeout: 500 }).then(() => true, () => false);
    });
    return item;
  }

  /** Waits until the status bar item says that. */
  async status(text: RegExp): Promise<void> {
    await this.page.locator('[id="sessionls.sessionls.sessions.status"]', { hasText: text }).waitFor();
  }

  /** Waits until some item of the status bar says that. */
  async statusText(text: RegExp): Promise<void> {
    await this.page.locator('.statusbar-item', { hasText: text }).first().waitFor();
  }

  /** Goes to another match by that key: it is the editor's own until the extension has marked the matches. */
  async toMatch(key: 'F8' | 'Shift+F8'): Promise<void> {
    await this.insist(() => this.key(key), this.page.locator('.statusbar-item', { hasText: /Match \d of \d/ }).first(), 3000);
  }

  async clipboard(): Promise<string> {
    return this.page.evaluate('navigator.clipboard.readText()');
  }

  /** The selected text of the active editor, by way of the clipboard. */
  async selected(): Promise<string> {
    await this.page.evaluate("navigator.clipboard.writeText('')");
    await this.key('Control+c');
    await this.page.waitForTimeout(150);
    return this.clipboard();
  }

  /** The processes of the server that this workbench has started. */
  servers(): number[] {
    return fs
      .readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          return (
            fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('server/sessionls\0serve') &&
            fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`SESSIONLS_HOME=${this.home.own}`) &&
            !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))
          );
        } catch {
          return false; // ended meanwhile
        }
      });
  }

  /** Opens the search by its key and types. */
  async search(query: string): Promise<void> {
    await this.dismiss();
    await this.openList('Control+k', 'a');
    await this.type(query);
  }

  /** Opens a list by its keys. */
  async openList(...keys: string[]): Promise<void> {
    let presses = 0;
    await this.insist(async () => {
      presses++;
      await this.key(...keys);
    }, this.box);
    if (presses === 1) return;
    // Those that were only slow bring it once more.
    await this.page.waitForTimeout(2000);
    await this.box.waitFor();
  }

  /** Types into the list, and sets right what has become of it. */
  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
    const typed = async (): Promise<boolean> => (await this.inputValue()) === text;
    await this.insist(async () => {
      if (!(await typed())) await this.input.fill(text);
    }, typed);
  }

  /** The box of the list, when keys go into it. */
  private get box(): Locator {
    return this.page.locator('.quick-input-widget input.input:focus');
  }

  /** What is in the box of the list; nothing if none is open. */
  async inputValue(): Promise<string> {
    return (await this.input.isVisible()) ? this.input.inputValue({ timeout: 1000 }).catch(() => '') : '';
  }

  /** Closes the list that is open. */
  async dismiss(): Promise<void> {
    if (!(await this.input.isVisible())) return;
    await this.insist(() => this.key('Escape'), async () => !(await this.input.isVisible()));
  }

  /** Opens the view of the sessions. */
  async openView(): Promise<void> {
    await this.insist(() => this.page.locator('.activitybar [aria-label^="Agent Sessions"]').first().click(), this.page.locator('.sidebar .composite.title', { hasText: /agent sessions/i }));
  }

  /** The text of every row, with plain spaces. */
  async rowTexts(): Promise<string[]> {
    return (await this.rows.allInnerTexts()).map((t) => t.replace(/\s+/g, ' ').trim());
  }

  /**
   * Does something, and again if nothing has come of it, as a person would: a key is lost while the focus moves, and so is a
   * click on a row that is just drawn anew. What it brings may only be slow, so it is waited for long before the next try.
   */
  async insist(act: () => Promise<unknown>, seen: Sight, each = 10_000): Promise<void> {
    const there = typeof seen === 'function' ? seen : () => seen.first().isVisible();
    let cause: unknown;
    for (const end = Date.now() + patience; Date.now() < end; ) {
      this.page.setDefaultTimeout(each); // what is done must not take all the time there is
      await act().catch((error: unknown) => {
        cause = error;
      });
      this.page.setDefaultTimeout(patience);
      for (const next = Date.now() + each; Date.now() < next; ) {
        if (await there()) return;
        await this.page.waitForTimeout(50);
      }
    }
    throw new Error(`nothing came of ${String(act)}: ${String(seen)}`, { cause });
  }

  /** Waits until something holds. */
  async until(holds: () => Promise<boolean> | boolean): Promise<void> {
    const end = Date.now() + patience;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`it did not come to that: ${String(holds)}`);
      await this.page.waitForTimeout(100);
    }
  }

  /** A picture for the README; only the newest edition makes them, and only when asked to. */
  async picture(name: string): Promise<void> {
    const folder = process.env['PICTURES'];
    if (folder === undefined || this.edition !== 'newest') return;
    await this.page.mouse.move(640, 799);
    await this.page.waitForTimeout(400);
    await this.page.screenshot({ path: path.join(folder, `${name}.png`) });
  }

  /** What it looks like now, for a look at a failure. */
  async snapshot(name: string): Promise<void> {
    await this.page.screenshot({ path: path.join(paths.extension, 'out', `${this.edition}-${name}.png`) });
  }

  /** The same in words: of a run elsewhere what it printed is all there is to see. */
  async inWords(): Promise<string> {
    const parts = await this.page.evaluate<Record<string, string[]>>(`(() => {
      const texts = (selector, text = (e) => e.innerText) =>
        [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility()).map((e) => (text(e) ?? '').replace(/\\s+/g, ' ').trim().slice(0, 300));
      const focus = document.activeElement;
      return {
        'list, title': texts('.quick-input-widget .quick-input-title'),
        'list, input': texts('.quick-input-widget input.input', (e) => JSON.stringify(e.value)),
        'list, row': texts('.quick-input-list .monaco-list-row', (e) => (e.classList.contains('focused') ? '> ' : '') + e.innerText),
        message: texts('.notification-toast'),
        dialog: texts('.monaco-dialog-box'),
        view: texts('.pane-body'),
        'status bar': [texts('.statusbar-item').filter((text) => text !== '').join(' | ')],
        tabs: texts('.tab', (e) => (e.classList.contains('active') ? '> ' : '') + e.innerText),
        focus: [focus === null ? 'none' : [focus.tagName, focus.className, focus.getAttribute('aria-label')].join(' ').slice(0, 200)],
      };
    })()`);
    return Object.entries(parts).flatMap(([part, texts]) => texts.map((text) => `  ${part}: ${text}`)).join('\n');
  }
}

export function editionOfTest(): Edition {
  return process.env['EDITION'] === 'floor' ? 'floor' : 'newest';
}
