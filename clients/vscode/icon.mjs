// node icon.mjs : draws media/icon.png from media/icon.svg. The picture is in the repository; this is how to make it anew.
import fs from 'node:fs';
import { chromium } from 'playwright-core';

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 256, height: 256 } });
await page.setContent(`<body style="margin:0">${fs.readFileSync('media/icon.svg', 'utf8')}</body>`);
await page.screenshot({ path: 'media/icon.png', omitBackground: true });
await browser.close();
