//! The files of a bundle, before they are packed.

use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use wiregauge_build_tools::hash_reader;
use wiregauge_system::interrupt;

use crate::elf::ElfFacts;
use crate::manifest::{BundledFile, Manifest, MANIFEST, PROGRAM};

/// How hard it is compressed: a second for the runners, and as small as the slow levels within
/// a tenth.
const LEVEL: i32 = 9;

/// The files of a bundle.
pub struct BundleFiles {
    architecture: String,
    glibc: (u32, u32),
    sources: IndexMap<String, Source>,
    files: IndexMap<String, BundledFile>,
}

/// Where the content of a file comes from.
enum Source {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Source {
    fn open(&self) -> Result<Box<dyn Read + '_>> {
        Ok(match self {
            Source::File(path) => Box::new(
                File::open(path).with_context(|| format!("cannot read {}", path.display()))?,
            ),
            Source::Bytes(bytes) => Box::new(Cursor::new(bytes)),
        })
    }
}

impl BundleFiles {
    /// Those of a bundle for this architecture, by the first word of GNU's names: the program
    /// and nothing else.
    ///
    /// # Errors
    /// When the program is not one of that architecture.
    pub fn new(architecture: &str, program: &Path) -> Result<BundleFiles> {
        let mut files = BundleFiles {
            architecture: architecture.into(),
            glibc: (0, 0),
            sources: IndexMap::new(),
            files: IndexMap::new(),
        };
        let shown = program.display();
        let facts = ElfFacts::read(program)?;
        let facts = facts.with_context(|| format!("{shown} is no program of wiregauge"))?;
        ensure!(
            facts.architecture == architecture,
            "{shown} is a program for {}, and the bundle is for {architecture}; give a wiregauge \
             for {architecture} by --program",
            facts.architecture
        );
        files.add_program(PROGRAM, program)?;
        Ok(files)
    }

    /// Adds a program or library in machine code. A path that is there already is left as it
    /// is.
    ///
    /// # Errors
    /// When it cannot be read, or is of another architecture.
    pub fn add_program(&mut self, path: &str, from: &Path) -> Result<()> {
        if self.files.contains_key(path) {
            return Ok(());
        }
        let facts = ElfFacts::read(from)?;
        let shown = from.display();
        let facts = facts.with_context(|| format!("{shown} is not in machine code"))?;
        ensure!(
            facts.architecture == self.architecture,
            "{shown} is a program for {}, and the bundle is for {}",
            facts.architecture,
            self.architecture
        );
        self.glibc = self.glibc.max(facts.glibc.unwrap_or_default());
        self.add(path, Source::File(from.into()), true)
    }

    /// Adds a shared library, in a folder that is named by its content: two rows may have two
    /// libraries of one name. Returns its path in the bundle.
    ///
    /// # Errors
    /// As [`BundleFiles::add_program`].
    pub fn add_library(&mut self, name: &str, from: &Path) -> Result<String> {
        let source = Source::File(from.into());
        let path = format!("libraries/{}/{name}", &hash_reader(source.open()?)?[..16]);
        self.add_program(&path, from)?;
        Ok(path)
    }

    /// Whether there is such a file.
    pub fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Adds a file of data.
    ///
    /// # Errors
    /// None but those of memory.
    pub fn add_bytes(&mut self, path: &str, bytes: Vec<u8>) -> Result<()> {
        self.add(path, Source::Bytes(bytes), false)
    }

    fn add(&mut self, path: &str, source: Source, is_program: bool) -> Result<()> {
        let mut size = 0;
        let counted = CountedRead { reader: source.open()?, size: &mut size };
        let sha256 = hash_reader(counted).with_context(|| format!("cannot read {path}"))?;
        self.files.insert(path.into(), BundledFile { sha256, bytes: size, is_program });
        self.sources.insert(path.into(), source);
        Ok(())
    }

    /// The manifest with what these files are and need.
    pub fn describe(&self, manifest: Manifest) -> Manifest {
        let glibc = format!("{}.{}", self.glibc.0, self.glibc.1);
        Manifest { glibc, files: self.files.clone(), ..manifest }
    }

    /// Packs them behind their manifest, in one file: tar, compressed by zstd.
    ///
    /// # Errors
    /// When one changed since it was added, or something cannot be written; then the output is
    /// not whole.
    pub fn pack(&self, manifest: &Manifest, output: impl Write) -> Result<()> {
        let mut encoder = zstd::Encoder::new(output, LEVEL).context("cannot compress")?;
        encoder.include_checksum(true).context("cannot compress")?;
        self.write_archive(manifest, &mut encoder)?;
        encoder.finish().context("cannot write the bundle")?.flush()?;
        Ok(())
    }

    /// Writes them behind their manifest as a tar archive.
    ///
    /// # Errors
    /// As [`BundleFiles::pack`].
    pub fn write_archive(&self, manifest: &Manifest, output: impl Write) -> Result<()> {
        let mut archive = tar::Builder::new(output);
        let text = serde_json::to_vec_pretty(manifest)?;
        append(&mut archive, MANIFEST, text.len() as u64, false, &*text)?;
        for (path, file) in &manifest.files {
            interrupt::check()?;
            let source = self.sources.get(path).with_context(|| format!("{path} is not there"))?;
            // As long as its header says, also where it grew.
            let content = source.open()?.take(file.bytes);
            append(&mut archive, path, file.bytes, file.is_program, content)?;
        }
        archive.into_inner()?.flush()?;
        Ok(())
    }
}

fn append(
    archive: &mut tar::Builder<impl Write>,
    path: &str,
    bytes: u64,
    is_program: bool,
    content: impl Read,
) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(if is_program { 0o755 } else { 0o644 });
    archive.append_data(&mut header, path, content).with_context(|| format!("cannot pack {path}"))
}

/// Counts what is read.
struct CountedRead<'a, R> {
    reader: R,
    size: &'a mut u64,
}

impl<R: Read> Read for CountedRead<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.reader.read(buffer)?;
        *self.size += count as u64;
        Ok(count)
    }
}
