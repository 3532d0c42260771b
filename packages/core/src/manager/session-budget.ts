/**
 * What all agents of a session may use together: one notice at 80 %, a question at 100 %. Only the user can raise it.
 * Totals come from the records, which a session that is opened again has as well. Private to the manager.
 */
import { AgentError } from "../base/error.ts";
import { extendSession, type SessionLimits, sessionParts } from "../model/budget.ts";
import type { Limits } from "../model/schema/spec.ts";
import type { Spent, Store } from "../model/store.ts";

export interface SessionBudgetOptions {
	store: Pick<Store, "spent">;
	/** Shows the user a notice. */
	notify: (text: string) => void;
	/** Asks the user; undefined if there is none. */
	confirm: ((question: string) => Promise<boolean>) | undefined;
}

const NO_LIMITS: SessionLimits = { cost: 0, tokens: 0, agents: 0 };

export class SessionBudget {
	readonly #options: SessionBudgetOptions;
	/** Whether the settings were read: runs may be rejoined before that. */
	#isKnown = false;
	#limits = NO_LIMITS;
	/** The limits with what the user granted since. */
	#granted = NO_LIMITS;
	readonly #noticed = new Set<string>();
	#asking: Promise<boolean> | undefined;

	constructor(options: SessionBudgetOptions) {
		this.#options = options;
	}

	/** Settings that stay the same leave what was granted. */
	setLimits(limits: SessionLimits): void {
		this.#isKnown = true;
		const { cost, tokens, agents } = this.#limits;
		if (limits.cost === cost && limits.tokens === tokens && limits.agents === agents) return;
		this.#limits = limits;
		this.#granted = limits;
		this.#noticed.clear();
	}

	get isKnown(): boolean {
		return this.#isKnown;
	}

	/** As the limits of a run, which money and tokens are checked like. Undefined without such a limit. */
	asLimits(wrapUpPercent: number | undefined): Limits | undefined {
		const { cost, tokens } = this.#granted;
		if (cost === 0 && tokens === 0) return undefined;
		return {
			...(cost > 0 && { budgetCost: cost }),
			...(tokens > 0 && { budgetTokens: tokens }),
			...(wrapUpPercent !== undefined && { wrapUpPercent }),
		};
	}

	/** The user said yes. */
	extend(): void {
		this.#granted = extendSession(this.#limits, this.#spent(), this.#granted);
		this.#noticed.clear();
	}

	/** Something was used: the user is notified once of each limit that is nearly reached. */
	notice(): void {
		if (Object.values(this.#limits).every((limit) => limit === 0)) return;
		for (const { name, isNear, text } of sessionParts(this.#spent(), this.#granted)) {
			if (!isNear || this.#noticed.has(name)) continue;
			this.#noticed.add(name);
			this.#options.notify(`The agents of this session have used ${text}.`);
		}
	}

	/** What was used of each limit, for people; empty without limits. */
	texts(): string[] {
		const isSet = Object.values(this.#limits).some((limit) => limit > 0);
		return isSet ? sessionParts(this.#spent(), this.#granted).map(({ text }) => text) : [];
	}

	/** Asks the user before a launch beyond the limits. Launches at the same time share one question. */
	async approveLaunch(): Promise<void> {
		const over = this.#over();
		if (over === undefined) return;
		const { confirm } = this.#options;
		this.#asking ??= confirm?.(questionFor(over)).finally(() => {
			this.#asking = undefined;
		});
		if (this.#asking && (await this.#asking) && this.#over() !== undefined) this.extend();
		this.assertOpen();
	}

	/** Throws if no agent may be launched. */
	assertOpen(): void {
		const over = this.#over();
		if (over === undefined) return;
		throw new AgentError(
			"refused",
			`The agents of this session have used ${over}, and only the user can raise that (setting \`budget.session\`). Do the work here instead.`,
		);
	}

	#over(): string | undefined {
		if (Object.values(this.#limits).every((limit) => limit === 0)) return undefined;
		return sessionParts(this.#spent(), this.#granted).find(({ isOver }) => isOver)?.text;
	}

	#spent(): Spent {
		return this.#options.store.spent();
	}
}

export function questionFor(used: string): string {
	return `The agents of this session have used ${used}. May they use the same amount again? (yes/no)`;
}
