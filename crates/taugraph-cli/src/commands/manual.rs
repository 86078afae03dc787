//! `taugraph completions` and `taugraph man`.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use taugraph_io::Output;

use crate::args::Cli;
use crate::failure::Outcome;
use crate::outputs::make_folder;

pub fn completions(shell: Shell) -> Outcome<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "taugraph", &mut script);
    Ok(Output::Stdout.write(|out| out.write_all(&script))?)
}

/// One page for the program and one for each command.
pub fn manual(folder: &Path) -> Outcome<()> {
    make_folder(folder)?;
    let program = Cli::command();
    let write = |name: String, command: clap::Command| -> Outcome<()> {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).expect("a vector takes everything");
        Ok(Output::new(&folder.join(format!("{name}.1"))).write(|out| out.write_all(&page))?)
    };
    for command in program.get_subcommands() {
        let name = format!("taugraph-{}", command.get_name());
        write(name.clone(), command.clone().name(name.leak() as &'static str))?;
    }
    write("taugraph".into(), program.clone())
}
