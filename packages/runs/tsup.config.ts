import { library } from "../../tsup.base.ts";

export default library(["src/index.ts", "src/internal/index.ts"]);
