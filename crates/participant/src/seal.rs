//! What encrypts a control connection.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use anyhow::Result;

/// What encrypts a connection, and knows that its other side is who it should be.
pub trait Seal: Debug + Send {
    /// Encrypts some bytes, fewer than 60,000.
    ///
    /// # Errors
    /// When the connection has carried too much.
    fn encrypt(&mut self, plain: &[u8]) -> Result<Vec<u8>>;

    /// Decrypts what [`Seal::encrypt`] made on the other side.
    ///
    /// # Errors
    /// When it was made by someone else.
    fn decrypt(&mut self, sealed: &[u8]) -> Result<Vec<u8>>;
}

/// A seal that both halves of a connection share.
pub type SharedSeal = Arc<Mutex<dyn Seal>>;
