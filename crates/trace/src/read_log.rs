//! What a reader tells beside its messages: what was lost, where that is wanted, and else in
//! remarks.

use anyhow::{bail, Result};

use crate::read::Loss;

/// What was told so far.
#[derive(Debug, Default)]
pub(crate) struct ReadLog {
    /// What was left out, where that is wanted.
    losses: Option<Vec<Loss>>,
    remarks: Vec<String>,
    /// Why not all of a packed file could be unpacked.
    packing: Option<String>,
}

impl ReadLog {
    /// Of a file of which not all could be unpacked for this reason.
    pub fn new(packing: Option<String>) -> ReadLog {
        ReadLog { packing, ..ReadLog::default() }
    }

    /// Fails for what could not be unpacked, where it is no loss. To be asked before the first
    /// message.
    pub fn check_packing(&mut self, origin: &str) -> Result<()> {
        let Some(fault) = &self.packing else { return Ok(()) };
        if !self.salvages() {
            bail!(
                "{origin} is a compressed file that is truncated or damaged ({fault}); save the \
                 undamaged part with 'wiregauge trace repair {origin}'"
            );
        }
        let what = format!("the compressed file is truncated or damaged: {fault}");
        self.packing = None;
        self.add_loss(0, what);
        Ok(())
    }

    /// From now on what is damaged is a loss, and no error.
    pub fn salvage(&mut self) {
        self.losses.get_or_insert_default();
    }

    /// Whether what is damaged is a loss.
    pub fn salvages(&self) -> bool {
        self.losses.is_some()
    }

    /// Takes a loss, where losses are wanted.
    pub fn add_loss(&mut self, at: u64, what: impl Into<String>) {
        if let Some(losses) = &mut self.losses {
            losses.push(Loss { at, what: what.into() });
        }
    }

    /// Takes what costs no message, or is no error: a loss where these are wanted, else a
    /// remark on the file.
    pub fn add_loss_or_remark(&mut self, origin: &str, at: u64, what: impl Into<String>) {
        let what = what.into();
        match self.salvages() {
            true => self.add_loss(at, what),
            false => self.add_remark(format!("{origin}: {what}")),
        }
    }

    /// Takes a remark.
    pub fn add_remark(&mut self, remark: String) {
        self.remarks.push(remark);
    }

    /// Whether anything was told.
    pub fn is_empty(&self) -> bool {
        self.remarks.is_empty() && self.losses().is_empty()
    }

    /// The losses so far.
    pub fn losses(&self) -> &[Loss] {
        self.losses.as_deref().unwrap_or_default()
    }

    /// The remarks so far.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
