/** Style sheets are imported for the build; they export nothing. */
declare module "*.css";
