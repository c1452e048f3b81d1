//! What is found by trying: the headroom of a transport.

pub mod goal;
pub mod headroom;
pub mod headroom_search;
pub mod verdict;
