import { library } from "../../tsup.base.ts";

export default library(["src/index.ts", "src/cells/index.ts", "src/dialogs/index.ts"]);
