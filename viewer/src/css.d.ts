// css.d.ts - a style sheet is imported for what it does to the page; the bundler takes it out.
declare module "*.css";
