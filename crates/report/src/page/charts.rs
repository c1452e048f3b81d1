//! One file a chart. What is put here is compiled in and registers itself as a
//! [`Chart`](crate::page::chart::Chart).

automod::dir!(pub "src/page/charts");
