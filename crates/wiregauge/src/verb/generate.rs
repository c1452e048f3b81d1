//! `wiregauge generate`: data holders of messages for the user's own programs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_codec_run::definitions::{module_name, Definitions};
use wiregauge_data_holders::output_folder::{
    explain_stale_file, find_differences, find_stale_files, write,
};
use wiregauge_data_holders::{
    generate, losses, with_java_package, without_alloc, HolderLanguage, Package, Wire,
};
use wiregauge_schema::msg::Dialect;
use wiregauge_system::notice::print_notice;
use wiregauge_system::output::print_escaped;
use wiregauge_system::text::escape_short;

use crate::unique_names::unique;

/// Generate source code that holds, reads and writes messages, for your programs. It has
/// no dependencies.
#[derive(clap::Args)]
#[command(
    override_usage = "wiregauge generate DEFINITION… --language NAME,… --wire NAME,… -o PATH"
)]
#[command(after_help = "\
Exit status: 0 when all is written or as it would be, 1 when --check finds a
difference, 2 when it could not be carried out.

Examples:
  wiregauge generate scan.msg --language python --wire ros-msg,cdr -o holders
  wiregauge generate drive.mcap:/lidar --language python --wire cdr -o holders
      of a recorded topic; without one of all topics
  wiregauge generate ~/ros2/src/my_msgs -I ~/ros2/src --module my_msgs \\
      --language cpp,python --wire cdr -o holders
      of all messages of a package
  wiregauge generate scan.msg --language cpp --wire cdr --check holders
      says in CI whether what is committed is what would be generated")]
pub struct Arguments {
    /// Definitions (.msg, .srv, .action, .idl, .proto, descriptor sets), recordings (.mcap, .bag,
    /// .db3 or its folder, .osi), or folders of packages or .proto files; after a
    /// colon one type or topic, where not all are wanted.
    #[arg(value_name = "DEFINITION", required = true)]
    definitions: Vec<String>,
    /// Also look for definitions in this folder. Give it several times for several
    /// folders.
    #[arg(short = 'I', long, value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Languages, separated by commas.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required = true)]
    language: Vec<HolderLanguage>,
    /// Wire formats, separated by commas.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required = true)]
    wire: Vec<Wire>,
    /// The folder to write into. It is made if it is missing.
    #[arg(short, long, value_name = "PATH", required_unless_present = "check")]
    output: Option<PathBuf>,
    /// Write nothing. Say whether this folder has what would be written.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "force"])]
    check: Option<PathBuf>,
    /// Which ROS the definitions are for [default: seen from what they use].
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
    /// Name of the files and modules [default: the folder, the .proto of several messages, or
    /// the message].
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// Put Java's packages into this one, such as org.example.
    #[arg(long, value_name = "NAME")]
    package: Option<String>,
    /// Holders that need no allocator, in Rust: lists and texts have room for as much as
    /// their bounds allow, and messages are written into memory of yours.
    #[arg(long)]
    no_alloc: bool,
    /// Also overwrite files that wiregauge did not generate.
    #[arg(long)]
    force: bool,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let definitions = Definitions::read(&self.definitions, &self.include, self.dialect)?;
        for name in definitions.unused {
            print_notice(&escape_short(&format!("{name} is left out, as no message uses it")));
        }
        let name_of_folder = || match &self.definitions[..] {
            [definition] => module_name(definition, definitions.schemas.len()),
            _ => None,
        };
        let name = self.module.clone().or_else(name_of_folder);
        let mut package = Package::new(name.as_deref(), definitions.schemas)?;
        if let Some(name) = &self.package {
            ensure!(
                self.language.contains(&HolderLanguage::Java),
                "--package has no effect without java; add java to --language"
            );
            package = with_java_package(package, name)?;
        }
        let wires: Vec<Wire> = unique(&self.wire).collect();
        if self.no_alloc {
            package = without_alloc(package, &self.language, &wires)?;
        }
        for wire in &wires {
            for loss in losses(*wire, &package)? {
                let notice = format!("{} {}: {}", wire.name(), loss.place, loss.what);
                print_notice(&escape_short(&notice));
            }
        }
        let mut files = Vec::new();
        for language in unique(&self.language) {
            files.extend(generate(&package, language, &wires)?);
        }
        if let Some(folder) = &self.check {
            let differences = find_differences(folder, &files)?;
            if differences.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
            print_escaped(&differences.join("\n"))?;
            return Ok(ExitCode::FAILURE);
        }
        let folder = self.output.as_deref().unwrap_or(Path::new("."));
        let print_path = |path: &Path| print_escaped(&path.display().to_string());
        write(folder, &files, self.force, &print_path)?;
        for path in find_stale_files(folder, &files)? {
            print_notice(&escape_short(&explain_stale_file(&path)));
        }
        Ok(ExitCode::SUCCESS)
    }
}
