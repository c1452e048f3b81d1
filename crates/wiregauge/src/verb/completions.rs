//! `wiregauge completions`: the words that a shell completes, and the manual.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Command;
use clap_complete::Shell;
use wiregauge_system::output::print;

/// Print a script by which a shell completes the words of wiregauge.
///
/// Packages install it. For a program that came as an archive, see the examples.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  echo 'source <(wiregauge completions bash)' >> ~/.bashrc
  wiregauge completions zsh > ~/.zfunc/_wiregauge
  wiregauge completions fish > ~/.config/fish/completions/wiregauge.fish")]
pub struct Arguments {
    /// The shell: bash, elvish, fish, powershell or zsh.
    #[arg(value_name = "SHELL", required_unless_present = "manual")]
    shell: Option<Shell>,
    /// Write the pages of the manual into this folder, one a verb: for packages.
    #[arg(long, value_name = "FOLDER", hide = true, conflicts_with = "shell")]
    manual: Option<PathBuf>,
}

impl Arguments {
    /// Carries it out for a command with all its verbs.
    pub fn run(self, mut command: Command) -> Result<ExitCode> {
        if let Some(folder) = &self.manual {
            write_manual(command.clone(), folder)
                .with_context(|| format!("cannot write the manual into {}", folder.display()))?;
        }
        if let Some(shell) = self.shell {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "wiregauge", &mut script);
            print(&String::from_utf8(script).context("the script is no text")?)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes a page for each verb.
fn write_manual(command: Command, folder: &Path) -> Result<()> {
    clap_mangen::generate_to(command, folder)?;
    for page in fs::read_dir(folder)? {
        let path = page?.path();
        let page = fs::read_to_string(&path)?;
        fs::write(&path, keep_lines_of_examples(&page))?;
    }
    Ok(())
}

/// A page whose examples stand as they are written, below a heading of their own.
fn keep_lines_of_examples(page: &str) -> String {
    let Some((head, extra)) = page.split_once(".SH EXTRA\n") else { return page.into() };
    let (extra, rest) = extra.split_once("\n.SH ").unwrap_or((extra, ""));
    let (text, examples) = extra.split_once("Examples:\n").unwrap_or((extra, ""));
    let text = if text.trim().is_empty() { "" } else { &format!(".SH NOTES\n{text}\n") };
    let rest = if rest.is_empty() { "" } else { &format!(".SH {rest}") };
    format!("{head}{text}.SH EXAMPLES\n.nf\n{}\n.fi\n{rest}", examples.trim_end())
}
