/** Most calls only list agents; code that makes pages and draws trees is loaded on demand. */

export const loadReport = () => import("./report.ts");
export const loadReplay = () => import("./replay.ts");
