/** What a link to another machine adds to a run, beside the same run in a process of this one, and beside a bare login. */
import { type Benchmark, median, type Subject, timed } from "../measure.ts";
import {
	burst,
	hasSshd,
	keptLink,
	type Link,
	type LinkName,
	logOut,
	natsServer,
	openLink,
	sshTrue,
} from "../worlds/remote.ts";

const LINKS = [
	"pipe",
	...(hasSshd ? (["ssh"] as const) : []),
	...(natsServer === undefined ? [] : (["nats"] as const)),
] as const;
const EVENTS = 5_000;
const SPARSE = 40;
const APART_MS = 10;

const first: Subject = {
	name: "remote",
	async once() {
		await logOut();
		const open = await openLink("ssh");
		try {
			const before = performance.now();
			await burst(open, 1);
			return performance.now() - before;
		} finally {
			open.close();
		}
	},
};

export const remote: Benchmark[] = [
	...LINKS.flatMap(rowsOf),
	...(hasSshd
		? [
				{
					name: "remote: a first run of one event over ssh, with the login, from launch to result",
					target: 6,
					unit: "ms",
					rounds: 7,
					ours: first,
					against: timed("ssh host true", sshTrue),
				},
			]
		: []),
];

/** Targets were set before the first measurement: a link copies each event twice more, ssh encrypts it, and a fleet's engine stores it. */
function rowsOf(link: Exclude<LinkName, "process">): Benchmark[] {
	const row = (name: string, target: number, cost: (open: Link) => Promise<number>, unit = "ms"): Benchmark => ({
		name: `remote: ${name} over ${link}`,
		target,
		unit,
		rounds: 7,
		ours: subject(link, cost),
		against: subject("process", cost),
	});
	const wholeMs = async (open: Link, events: number) => {
		const before = performance.now();
		await burst(open, events);
		return performance.now() - before;
	};
	return [
		row(`an event in a burst of ${EVENTS}`, 4, async (open) => ((await wholeMs(open, EVENTS)) * 1_000) / EVENTS, "µs"),
		row(`delay of an event, ${APART_MS} ms after the one before,`, 6, async (open) =>
			median(await burst(open, SPARSE, APART_MS)),
		),
		row("a run of one event, from launch to result,", 6, (open) => wholeMs(open, 1)),
	];
}

function subject(name: LinkName, cost: (open: Link) => Promise<number>): Subject {
	return { name, once: async () => cost(await keptLink(name)) };
}
