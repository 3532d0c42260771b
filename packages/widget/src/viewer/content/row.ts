/** One line of the screen before it is framed. */
export interface Row {
	/** The prefix: a mark, a bar or an indentation. It is not searched. */
	lead: string;
	text: string;
}
