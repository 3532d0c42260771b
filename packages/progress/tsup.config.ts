import { library } from "../../tsup.base.ts";

export default library(["src/index.ts", "src/schema/index.ts", "src/bin.ts"]);
