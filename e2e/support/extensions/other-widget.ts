/** An extension of somebody else that has lines above the editor, and changes them. */
interface Pi {
	on(event: "session_start" | "session_shutdown", handler: (event: unknown, ctx: Context) => void): void;
}

interface Context {
	ui: { setWidget(key: string, lines: string[]): void };
}

const CHANGE_MS = 300;

export default function otherWidget(pi: Pi): void {
	let timer: NodeJS.Timeout | undefined;
	pi.on("session_start", (_event, { ui }) => {
		let changes = 0;
		const draw = () => ui.setWidget("other", ["A widget of somebody else,", `changed ${++changes} times.`]);
		draw();
		timer = setInterval(draw, CHANGE_MS);
	});
	pi.on("session_shutdown", () => clearInterval(timer));
}
