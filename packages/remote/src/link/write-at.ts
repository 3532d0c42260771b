/** Writes at a known place of a file, never through a link, so that bytes that come twice change nothing. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** `isEnd`: what lies behind goes. */
export async function writeAt(path: string, at: number, bytes: Buffer, { isEnd }: { isEnd: boolean }): Promise<void> {
	const { O_WRONLY, O_CREAT, O_NOFOLLOW = 0 } = constants;
	const file: FileHandle = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600);
	try {
		if (isEnd) await file.truncate(at);
		await file.write(bytes, 0, bytes.length, at);
	} finally {
		await file.close();
	}
}
