//! wiregauge: measures what it costs to move messages in automotive and
//! robotics simulation. One verb a file; see `wiregauge --help`.

mod compare_args;
mod connect_args;
mod exit_status;
mod list_format;
mod max_memory;
mod requirement_args;
mod result_args;
mod unique_names;
mod verb;

use std::io::{ErrorKind, Write};
use std::panic;
use std::process::ExitCode;

use clap::Parser;
use wiregauge_archive::signed_address;
use wiregauge_system::interrupt::{self, Interrupted};
use wiregauge_system::notice::print_notice;
use wiregauge_system::text;

use crate::exit_status::INTERRUPTED;
use crate::verb::Arguments;

/// The command could not be carried out.
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    panic::set_hook(Box::new(|fault| print_notice(&complaint(fault))));
    panic::catch_unwind(carry_out).unwrap_or(ExitCode::from(REFUSED))
}

fn carry_out() -> ExitCode {
    wiregauge_archive::install_for_command();
    let arguments = signed_address::hide_secrets(std::env::args_os());
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    // A host of FMUs has one thread, as FMUs may be slower where there are more.
    let listening = if arguments.serves() { Ok(()) } else { interrupt::install() };
    match listening.map_err(Into::into).and_then(|()| arguments.run()) {
        Ok(code) => code,
        Err(error) => {
            // Some of it may be in the words of others. It is not cut: what is wrong
            // and what to do may be behind a long list of names.
            print_notice(&text::escape(&format!("wiregauge: {error:#}")));
            ExitCode::from(if error.is::<Interrupted>() { INTERRUPTED } else { REFUSED })
        }
    }
}

/// Shows the help that was asked for, or what is wrong with the arguments.
fn explain(error: &clap::Error) -> ExitCode {
    // It repeats arguments, which a shell may have made of the names of files.
    let text = error.render().to_string();
    if error.use_stderr() && text::escape_lines(&text) != text {
        print_notice(&text);
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(REFUSED));
    }
    let shown = error.print().and_then(|()| std::io::stdout().flush());
    match shown {
        Err(fault) if !error.use_stderr() && fault.kind() != ErrorKind::BrokenPipe => {
            print_notice(&format!("wiregauge: cannot write to standard output: {fault}"));
            ExitCode::from(REFUSED)
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(REFUSED)),
    }
}

/// A fault of the program itself in one line, without the stack, which tells
/// its user nothing.
fn complaint(fault: &panic::PanicHookInfo) -> String {
    let text = fault.payload();
    let text = text.downcast_ref::<&str>().copied().or(text.downcast_ref::<String>().map(|t| &**t));
    let text = text.unwrap_or("something went wrong").lines().next().unwrap_or_default();
    let place = fault.location().map_or(String::new(), |place| format!(" ({place})"));
    format!("wiregauge: this is a defect of wiregauge; please report it: {text}{place}")
}
