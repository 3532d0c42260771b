/** Debian's Chromium, driven by playwright: pages with every request, message and dialog on record. */
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

export const CHROMIUM = "chromium";

const FLAGS = [
	"--headless",
	"--no-sandbox",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
];

export interface Watched extends AsyncDisposable {
	page: Page;
	/** Every request but the one for the page. */
	requests: string[];
	/** Dialogs, errors and messages on the console: a good page has none. */
	incidents: string[];
}

export function startBrowser(): Promise<Browser> {
	return chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
}

export function openFile(browser: Browser, path: string, options: BrowserContextOptions = {}): Promise<Watched> {
	return openPage(browser, pathToFileURL(path).href, options);
}

export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
	const context = await browser.newContext({ deviceScaleFactor: 1, ...options });
	const page = await context.newPage();
	const [requests, incidents]: [string[], string[]] = [[], []];
	page.on("request", (request) => {
		if (request.url() !== url.split("#", 1)[0]) requests.push(request.url());
	});
	page.on("dialog", (dialog) => {
		incidents.push(`dialog: ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on("pageerror", (error) => incidents.push(`error: ${error.message}`));
	page.on("console", (message) => incidents.push(`console: ${message.text()}`));
	page.on("popup", (popup) => incidents.push(`window: ${popup.url()}`));
	await page.goto(url);
	return { page, requests, incidents, [Symbol.asyncDispose]: () => context.close() };
}
