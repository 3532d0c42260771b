/** Writes at a known place of a file, never through a link, so that bytes that come twice change nothing. */
import { openPlain } from "@pi-subagents/core/internal/files";

/** `isEnd`: what lies behind goes. */
export async function writeAt(path: string, at: number, bytes: Buffer, { isEnd }: { isEnd: boolean }): Promise<void> {
	const file = await openPlain(path, { use: "write" });
	try {
		if (isEnd) await file.truncate(at);
		for (let done = 0; done < bytes.length; )
			done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
	} finally {
		await file.close();
	}
}
