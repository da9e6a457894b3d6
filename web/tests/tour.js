// Takes the pictures of the README: the tour of the demo, in light and dark, wide and on a phone.
//   node tests/tour.js FOLDER
import { launch, openPage, PHONE } from './support/browser.js';
import { startServer, toolsReady } from './support/server.js';

const folder = process.argv[2];
if (!folder) {
  console.error('wrong use: the folder for the pictures is missing\nhint: node tests/tour.js ../docs');
  process.exit(2);
}
const MESSAGES = ['List the devices in Amsterdam', 'Show the interfaces of the second one', 'Add C++ and Python answers to project 123 survey', 'What answers were deselected?'];

const server = await startServer();
const browser = await launch();
try {
  await toolsReady(server);
  for (const [title, tag] of [['Survey of the payment gateway', 'survey'], ['Who owns fra1-sw-02?', 'network']]) {
    const other = await server.api('POST', '/conversations', { agent: 'demo', title, tags: [tag] });
    await server.api('POST', '/chat', { message: title, conversation_id: other.id });
  }
  const { id } = await server.api('POST', '/conversations', { agent: 'demo', title: 'Devices in Amsterdam', tags: ['network'] });
  for (const message of MESSAGES) await server.api('POST', '/chat', { message, conversation_id: id });
  const take = async (name, options, act) => {
    const { page, close } = await openPage(browser, server.url, { path: `/#/c/${id}`, deviceScaleFactor: 1.5, viewport: { width: 1360, height: 850 }, ...options });
    await page.locator(`article.row[aria-label="Turn ${MESSAGES.length}"] footer`).waitFor();
    await act(page);
    await page.evaluate(() => document.activeElement?.blur());
    await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'));
    await page.screenshot({ path: `${folder}/${name}.png` });
    await close();
  };
  const panel = (page) => page.getByRole('tabpanel');
  await take('tour', { colorScheme: 'light' }, async (page) => {
    await page.locator('article.row[aria-label="Turn 3"] .call.folded').click();
    await page.locator('article.row[aria-label="Turn 3"] button.context-line').click();
    await panel(page).getByRole('heading', { name: 'Turn 3 of 4' }).waitFor();
    await panel(page).locator('.pieces[data-sign=added]').waitFor();
  });
  await take('tour-map', { colorScheme: 'dark' }, async (page) => {
    await page.getByRole('tab', { name: 'Map' }).click();
    await page.locator('.columns').waitFor();
  });
  await take('tour-entities', { colorScheme: 'light' }, async (page) => {
    await page.getByRole('tab', { name: 'Entities' }).click();
    await page.locator('.graph').waitFor();
  });
  await take('tour-request', { colorScheme: 'light' }, async (page) => {
    await panel(page).getByRole('button', { name: 'Request', exact: true }).click();
    await panel(page).getByRole('button', { name: 'Side by side' }).click();
    await page.getByRole('dialog').locator('.raw').waitFor();
  });
  await take('tour-phone', { colorScheme: 'light', ...PHONE }, async (page) => {
    await page.locator('article.row[aria-label="Turn 4"] button.context-line').click();
    await page.locator('.window-bar').waitFor();
  });
} finally {
  await browser.close();
  await server.stop();
}
