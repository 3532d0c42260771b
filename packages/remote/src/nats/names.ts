/** The subjects and streams of one fleet. All begin with its name, so that an engine can give each user only their own. */
export interface Names {
	/** Orders that no worker has yet, for the workers of one pool. */
	order(pool: string): string;
	/** Everything about a run, written by one worker at a time. */
	run(key: string): string;
	/** Requests to the worker that has a run. */
	to(key: string): string;
	/** Signs of life of a worker. */
	beat(worker: string): string;
	/** Signs of life of a process that launches agents, and requests to it. */
	alive(near: string): string;
	near(near: string): string;
	/** Asks all workers what they offer. */
	who: string;
	orders: string;
	runs: string;
	bucket: string;
	inbox: string;
}

export function namesOf(fleet: string): Names {
	const base = `pi.${fleet}`;
	return {
		order: (pool) => `${base}.order.${pool}`,
		run: (key) => `${base}.run.${token(key)}`,
		to: (key) => `${base}.to.${token(key)}`,
		beat: (worker) => `${base}.beat.${worker}`,
		alive: (near) => `${base}.alive.${near}`,
		near: (near) => `${base}.near.${near}`,
		who: `${base}.who`,
		orders: `pi_${fleet}_orders`,
		runs: `pi_${fleet}_runs`,
		bucket: `pi_${fleet}_blobs`,
		inbox: `_INBOX.${fleet}`,
	};
}

/** Keys of runs may have dots, which would separate parts of a subject. */
function token(key: string): string {
	return key.replaceAll(".", "=");
}
