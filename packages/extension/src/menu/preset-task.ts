/** What an agent that writes a preset is asked, and how its answer is read. Pure. */

/** More names would bury the task. */
const MOST_NAMES = 50;

export function taskFor(wish: string, taken: readonly string[]): string {
	return `Write a preset for a sub-agent of pi: one markdown file, with YAML frontmatter and below it the system prompt.

This is what the user wants it for:
<wish>
${wish}
</wish>

Fields of the frontmatter, one \`key: value\` each:
- name: letters, digits and dashes, at most 64. Taken: ${taken.slice(0, MOST_NAMES).join(", ")}.
- description: one line that says when to choose it; a model reads it to decide.
- tools: the complete list, separated by commas, of read, grep, find, ls (looking only), bash, edit, write. Give it no more than it needs.
- model: inherit
- prompt_mode: append (it also keeps pi's usual instructions) or replace (the prompt is all it knows).
- max_turns: a number, only if there is a reason to limit it.
Use no other fields.

The prompt tells the agent who it is, how to work step by step, what to leave alone, and what its final message must hold. It sees nothing of the conversation that starts it, only its task. Be specific; leave out what any model knows. If it helps, look around in this project first, and change nothing. Do not ask; where something is open, choose.

Answer with the file alone, in one fenced block that begins with \`\`\`markdown.`;
}

/** The file in an answer that may hold more than that. What is wrong with it is for the check to say. */
export function fileIn(answer: string): string {
	const text = answer.replaceAll("\r\n", "\n").trim();
	const opening = /^(`{3,}|~{3,})[^\n]*\n\s*(?=---\n)/m.exec(text);
	if (opening) {
		const start = opening.index + opening[0].length;
		const end = text.lastIndexOf(`\n${opening[1]}`); // the prompt may hold blocks of its own
		return text.slice(start, end > start ? end : undefined).trim();
	}
	const bare = /^---\n/m.exec(text);
	return bare ? text.slice(bare.index) : text;
}
