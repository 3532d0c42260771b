/** How long work takes this process, whatever else the machine does meanwhile. */

/** For bounds on work that must not grow with its input. Another process costs some of it, too, so leave a wide margin. */
export function cpuMs(work: () => void): number {
	const before = process.cpuUsage();
	work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1_000;
}
