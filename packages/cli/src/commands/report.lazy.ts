/** Most calls only list agents; what makes pages and draws trees is loaded when it is needed. */

export const loadReport = () => import("./report.ts");
export const loadReplay = () => import("./replay.ts");
