import { library } from "../../tsup.base.ts";

export default library(["src/index.ts", "src/input/index.ts", "src/questions/index.ts", "src/text/index.ts"]);
