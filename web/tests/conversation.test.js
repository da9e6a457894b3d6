// What people expect of a conversation: ask again, say it differently, copy, files, models, and the keyboard for all of it.
import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SIZES, assertAccessible, holds, launch, openPage, say, shot } from './support/browser.js';
import { startModel } from './support/model.js';
import { startServer } from './support/server.js';

const CODE = 'const answer = "42"; // a comment\nprint(answer)';

let model;
let server;
let browser;
before(async () => {
  let asked = 0;
  model = await startModel((request) => {
    const last = JSON.stringify(request.messages.filter((message) => message.role === 'user').at(-1)?.content ?? '');
    asked += 1;
    if (/code/.test(last)) return { words: [`Here:\n\n\`\`\`js\n${CODE}\n\`\`\`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] racked\n- [ ] cabled\n`] };
    return { words: [`Answer ${asked} by ${request.model}.`] };
  });
  const folder = await mkdtemp(join(tmpdir(), 'throughline-conversation-'));
  const entry = (name) => `[[model]]\nname = "${name}"\nprovider = "openai"\nmodel = "${name}-model"\nbase_url = "${model.url}"\n`;
  await writeFile(join(folder, 'throughline.toml'), entry('first') + entry('second'));
  server = await startServer({ args: ['--config', join(folder, 'throughline.toml')], folder });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await model?.stop();
});

const row = (page, turn) => page.locator(`article.row[aria-label="Turn ${turn}"]`);
const idOf = (page) => new URL(page.url()).hash.split('/')[2];

for (const [device, size] of Object.entries(SIZES)) {
  test(`asking again and saying it differently are forks, and shown as such, on ${device}`, async () => {
    const { page, close } = await openPage(browser, server.url, size);
    await say(page, 'One', { turn: 1 });
    await say(page, 'Two', { turn: 2 });
    const original = idOf(page);
    const first = await row(page, 2).locator('.markdown').innerText();
    await row(page, 2).getByRole('button', { name: 'Ask again' }).click();
    await page.locator('.head-about').getByText('forked at turn 1').waitFor();
    await row(page, 2).locator('footer').waitFor();
    assert.equal(await row(page, 2).locator('.said').innerText(), 'Two');
    assert.notEqual(await row(page, 2).locator('.markdown').innerText(), first, 'another answer');
    await row(page, 2).getByRole('link', { name: 'original' }).click();
    await page.waitForURL((url) => url.hash.includes(original));
    await row(page, 2).locator('.versions', { hasText: 'fork' }).waitFor();
    await row(page, 1).getByRole('button', { name: 'Edit the message' }).click();
    const field = page.getByLabel('Say it differently');
    await holds(field, 'One');
    await assertAccessible(page, `editing a message on ${device}`);
    await field.fill('Uno');
    await page.keyboard.press('Enter');
    await page.locator('.head-about').getByText('forked at the start').waitFor();
    await row(page, 1).locator('.said', { hasText: 'Uno' }).waitFor();
    await row(page, 1).locator('footer').waitFor();
    assert.equal((await server.api('GET', `/conversations/${original}`)).turns, 2, 'the original stays as it is');
    await shot(page, `fork-${size.viewport.width}`);
    await close();
  });

  test(`a reply and a block of code are copied, and code is coloured, on ${device}`, async () => {
    const { page, close } = await openPage(browser, server.url, size);
    await say(page, 'Show me code', { turn: 1 });
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await row(page, 1).locator('.copy-code').click();
    await page.getByText('Copied the code.').waitFor();
    assert.equal(await copied(), CODE);
    await row(page, 1).getByRole('button', { name: 'Copy the reply' }).click();
    await page.getByText('Copied the reply.').waitFor();
    assert.match(await copied(), /^Here:\n\n```js\n/);
    const kinds = await row(page, 1).locator('pre span').evaluateAll((spans) => spans.map((span) => [span.className.replace('code-', ''), span.textContent]));
    assert.deepEqual(kinds, [['keyword', 'const'], ['text', '"42"'], ['comment', '// a comment'], ['call', 'print']]);
    assert.match(await row(page, 1).locator('.markdown').innerText(), /☑ racked\s+☐ cabled/);
    await assertAccessible(page, `code on ${device}`);
    await close();
  });

  test(`a text file comes along and stays named, on ${device}`, async () => {
    const { page, close } = await openPage(browser, server.url, size);
    await page.getByLabel('Add text files or pictures').setInputFiles([
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The rack is R42.') },
      { name: 'archive.zip', mimeType: 'application/zip', buffer: Buffer.from([0x50, 0x4b, 0, 0xff]) },
      { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0, 0xff]) },
      { name: 'extra.md', mimeType: 'text/markdown', buffer: Buffer.from('# Extra') },
      { name: 'nothing.txt', mimeType: 'text/plain', buffer: Buffer.from('') },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The rack is R42.') },
    ]);
    await page.getByText('nothing.txt is empty.').waitFor();
    await page.getByText('notes.txt is already attached.').waitFor();
    await page.getByText('archive.zip is neither a text file nor a picture').waitFor();
    await page.getByText('broken.png cannot be read as a picture.').waitFor();
    await page.getByRole('button', { name: 'Leave extra.md out' }).click();
    await say(page, 'Where is it?', { turn: 1 });
    assert.match(JSON.stringify(model.seen.at(-1).messages), /The rack is R42\./);
    await row(page, 1).locator('.said .file-chip', { hasText: 'notes.txt' }).waitFor();
    assert.equal(await row(page, 1).locator('.said .file-chip').count(), 1);
    await page.reload();
    await row(page, 1).locator('.said .file-chip', { hasText: 'notes.txt' }).waitFor();
    await row(page, 1).locator('.context-line', { hasText: 'Shown: notes.txt' }).waitFor();
    await row(page, 1).locator('.said').getByRole('button', { name: 'notes.txt' }).click();
    await page.getByRole('dialog', { name: 'notes.txt' }).getByText('The rack is R42.').waitFor();
    await assertAccessible(page, `an opened file on ${device}`);
    await page.keyboard.press('Escape');
    await assertAccessible(page, `a file on ${device}`);
    await close();
  });

  test(`a picture is shown to the model, made smaller, and comes along when it is asked again, on ${device}`, async () => {
    const { page, close } = await openPage(browser, server.url, size);
    const drawn = await page.evaluate(() => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [3000, 1000];
      canvas.getContext('2d').fillRect(10, 10, 500, 500);
      return canvas.toDataURL('image/png').split(',')[1];
    });
    await page.getByLabel('Add text files or pictures').setInputFiles({ name: 'plan of the rack.png', mimeType: 'image/png', buffer: Buffer.from(drawn, 'base64') });
    await page.locator('.composer .file-chip img').waitFor();
    await shot(page, `picture-${size.viewport.width}`);
    await say(page, 'What is on it?', { turn: 1 });
    const pictures = () => model.seen.at(-1).messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter((part) => part.type === 'image_url');
    assert.equal(pictures().length, 1);
    const sent = pictures()[0].image_url.url;
    const [width, height] = await page.evaluate(async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }, sent);
    assert.deepEqual([width, height], [1568, 523]);
    await row(page, 1).locator('.said .file-chip', { hasText: 'plan of the rack.png' }).waitFor();
    await row(page, 1).locator('.said .file-chip img').waitFor();
    await row(page, 1).locator('.said').getByRole('button', { name: 'plan of the rack.png' }).click();
    await page.getByRole('dialog').getByRole('img', { name: 'plan of the rack.png' }).waitFor();
    await shot(page, `opened-picture-${size.viewport.width}`);
    await page.keyboard.press('Escape');
    await row(page, 1).getByRole('button', { name: 'Ask again' }).click();
    await page.locator('.head-about').getByText('forked at the start').waitFor();
    await row(page, 1).locator('.said .file-chip', { hasText: 'plan of the rack.png' }).waitFor();
    await row(page, 1).locator('footer').waitFor();
    assert.equal(pictures()[0].image_url.url, sent, 'the same picture, to the byte');
    await assertAccessible(page, `a picture on ${device}`);
    await close();
  });
}

test('files stay with the session that they were added to', async () => {
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'One', { turn: 1 });
  const session = page.url();
  await page.getByLabel('Add text files or pictures').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('R42') });
  await page.locator('.composer .file-chip').waitFor();
  await page.goto(server.url + '/#/');
  await page.getByLabel('Message', { exact: true }).waitFor();
  assert.equal(await page.locator('.composer .file-chip').count(), 0);
  await page.goto(session);
  await page.locator('.composer .file-chip', { hasText: 'notes.txt' }).waitFor();
  await close();
});

test('the model is chosen for a new session and in the middle of one', async () => {
  const { page, close } = await openPage(browser, server.url);
  await page.getByLabel('Model').selectOption('second');
  await say(page, 'One', { turn: 1 });
  await row(page, 1).locator('.markdown', { hasText: 'by second-model' }).waitFor();
  await Promise.all([page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok()), page.getByLabel('Model').selectOption('first')]);
  assert.equal((await server.api('GET', `/conversations/${idOf(page)}`)).settings.model, 'first');
  await say(page, 'Two', { turn: 2 });
  await row(page, 2).locator('.markdown', { hasText: 'by first-model' }).waitFor();
  await row(page, 2).locator('.meta', { hasText: 'openai/first-model' }).waitFor();
  await close();
});

test('every one of these works by keyboard alone, and the list of keys names them', async () => {
  const { page, close } = await openPage(browser, server.url);
  await page.getByLabel('Message', { exact: true }).waitFor();
  await page.keyboard.type('One');
  await page.keyboard.press('Enter');
  await row(page, 1).locator('footer').waitFor();
  await page.keyboard.type('Two');
  await page.keyboard.press('Enter');
  await row(page, 2).locator('footer').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  assert.equal(await focused(), 'Turn 2');
  await page.keyboard.press('k');
  assert.equal(await focused(), 'Turn 1');
  await page.keyboard.press('y');
  await page.getByText('Copied the reply.').waitFor();
  await page.keyboard.press('i');
  await page.getByRole('tabpanel').getByRole('heading', { name: 'Turn 1 of 2' }).waitFor();
  // The field has the focus as soon as it is there: a key pressed before the next frame is not lost.
  const focusedWhenShown = page.evaluate(() => new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      const field = document.querySelector('[aria-label="Say it differently"]');
      if (!field) return;
      observer.disconnect();
      resolve(document.activeElement === field);
    }).observe(document.body, { childList: true, subtree: true });
  }));
  await page.keyboard.press('e');
  assert.ok(await focusedWhenShown);
  await page.keyboard.press('Escape');
  await page.getByLabel('Say it differently').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  const keys = await page.getByRole('dialog', { name: 'Keyboard' }).locator('kbd').allInnerTexts();
  for (const key of ['j', 'k', 'i', 'y', 'r', 'e', 'm', 'n', 'c', '/', '?', 'Enter', 'Esc']) assert.ok(keys.includes(key), key);
  await shot(page, 'keys');
  await page.keyboard.press('Escape');
  await page.keyboard.press('r');
  await page.locator('.head-about').getByText(/forked at/).waitFor();
  await close();
});
