/** For work whose failure must not harm the run it accompanies, but must not vanish either. */

/** Says what could not be done. Must not throw. */
export type Report = (message: string) => void;

export async function bestEffort(label: string, report: Report, work: () => unknown): Promise<void> {
	try {
		await work();
	} catch (error) {
		report(`${label}: ${messageOf(error)}`);
	}
}

export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
