//! Finds the texts of definitions, and of all that they import.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{ensure, Result};
use prost_reflect::prost_types::FileDescriptorProto;
use protox::file::{File, FileResolver, GoogleFileResolver};

use super::{edition, text};
use crate::file;

/// Most files that one definition may import, directly and through others.
const MOST_IMPORTS: usize = 1000;

/// Finds the texts of definitions.
#[derive(Clone)]
pub(super) struct Resolver {
    /// Texts by the names under which they are imported.
    pub(super) texts: HashMap<String, String>,
    /// Where files are looked for, in this order.
    pub(super) folders: Vec<PathBuf>,
    pub(super) found: Rc<RefCell<OpenedFiles>>,
}

/// What was opened, and what the compiler is not told.
#[derive(Default)]
pub(super) struct OpenedFiles {
    /// The files by their names.
    pub(super) files: HashMap<String, File>,
    /// Why a file could not be opened.
    pub(super) error: Option<anyhow::Error>,
    /// What files of an edition say, by their names.
    pub(super) editions: HashMap<String, edition::File>,
}

impl FileResolver for Resolver {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        self.text(name).unwrap_or_else(|error| {
            self.found.borrow_mut().error = Some(error);
            Err(protox::Error::file_not_found(name))
        })
    }
}

impl Resolver {
    /// The file and all that it imports, each after those that it imports. With
    /// its own stack: the compiler calls itself for each. What is not there is
    /// left to the compiler, which tells the line.
    pub(super) fn order(&self, name: &str) -> Result<Vec<String>> {
        let imports = |name: &str| -> Result<std::vec::IntoIter<String>> {
            let file = self.text(name)?.ok();
            let imports = file.map(|file| file.file_descriptor_proto().dependency.clone());
            Ok(imports.unwrap_or_default().into_iter())
        };
        let mut order = Vec::new();
        let mut seen = HashSet::from([name.to_owned()]);
        let mut open = vec![(name.to_owned(), imports(name)?)];
        while let Some((_, rest)) = open.last_mut() {
            match rest.next() {
                Some(inner) if seen.insert(inner.clone()) => {
                    ensure!(
                        seen.len() <= MOST_IMPORTS,
                        "it imports more than {MOST_IMPORTS} files"
                    );
                    let rest = imports(&inner)?;
                    open.push((inner, rest));
                }
                Some(inner) => ensure!(
                    open.iter().all(|(name, _)| *name != inner),
                    "{inner} imports itself, directly or through others"
                ),
                None => order.extend(open.pop().map(|(name, _)| name)),
            }
        }
        Ok(order)
    }

    /// The file of this name; the outer error is ours, the inner the parser's.
    fn text(&self, name: &str) -> Result<Result<File, protox::Error>> {
        if let Some(file) = self.found.borrow().files.get(name) {
            return Ok(Ok(file.clone()));
        }
        let opened = self.open(name)?;
        if let Ok(file) = &opened {
            self.found.borrow_mut().files.insert(name.into(), file.clone());
        }
        Ok(opened)
    }

    fn open(&self, name: &str) -> Result<Result<File, protox::Error>> {
        let place = || self.folders.iter().map(|folder| folder.join(name)).find(|p| p.exists());
        let text = match (self.texts.get(name), place()) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => file::read_text(&path)?,
            (None, None) => {
                // Features of languages: options that come with an edition's compiler.
                let is_features =
                    name.starts_with("google/protobuf/") && name.ends_with("_features.proto");
                return Ok(match is_features {
                    true => Ok(File::from_file_descriptor_proto(FileDescriptorProto {
                        name: Some(name.into()),
                        ..FileDescriptorProto::default()
                    })),
                    false => GoogleFileResolver::new().open_file(name),
                });
            }
        };
        let readable = text::prepare_text(name, &text)?;
        let file = match File::from_source(name, &readable.text) {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let Some(edition) = readable.edition else { return Ok(Ok(file)) };
        let number = text::edition_number(name, &edition)?;
        let mut descriptor = file.file_descriptor_proto().clone();
        let said = edition::take_options(&mut descriptor, number);
        self.found.borrow_mut().editions.insert(name.into(), said);
        descriptor.syntax = None;
        Ok(Ok(File::from_file_descriptor_proto(descriptor)))
    }
}
