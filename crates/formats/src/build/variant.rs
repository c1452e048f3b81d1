//! A row to be built: a codec, and by what.

use std::sync::Arc;

use wiregauge_workshop::Toolchain;

use super::release::Release;
use crate::codec::Codec;

/// A row to be built: a codec, and by what.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The codec.
    pub codec: &'static Codec,
    /// Where its compiler and its library come from.
    pub toolchain: Arc<Toolchain>,
    /// Another release of its crate than the one that wiregauge locks.
    pub release: Option<Arc<Release>>,
}

impl Variant {
    /// The codec as the machine builds it.
    pub fn plain(codec: &'static Codec) -> Variant {
        Variant { codec, toolchain: Arc::new(Toolchain::System), release: None }
    }

    /// What marks it among rows of the same codec; nothing for the plain one.
    pub fn label(&self) -> &str {
        self.release.as_ref().map_or(self.toolchain.label(), |release| &release.label)
    }

    /// Key of the row: the codec's name, and `@` and the label where there is one.
    pub fn id(&self) -> String {
        with_label(self.codec.name, "@", self.label())
    }

    /// The row's name until its library has said its version.
    pub fn title(&self) -> String {
        with_label(self.codec.title, " @", self.label())
    }

    /// What is built together: the same language by the same means. It is the
    /// name of a folder of the message.
    pub(super) fn group(&self) -> String {
        let key = self.codec.language.key;
        match &self.release {
            Some(release) => format!("{key}-{}", release.key()),
            None => format!("{key}{}", self.toolchain.key()),
        }
    }
}

fn with_label(name: &str, between: &str, label: &str) -> String {
    match label {
        "" => name.into(),
        label => format!("{name}{between}{label}"),
    }
}
