//! Which output of the source goes into which input of the model, and whether
//! the two understand each other.

use anyhow::{bail, ensure, Context, Result};

use crate::package::description::Binary;
use crate::package::Package;

/// The binary variables of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coupling {
    /// The source's output.
    pub output: Binary,
    /// The model's input.
    pub input: Binary,
    /// The model's output; a sink, such as a recorder, has none.
    pub result: Option<Binary>,
}

/// Names of variables that were asked for, where there are several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The source's output.
    pub output: Option<String>,
    /// The model's input.
    pub input: Option<String>,
    /// The model's output.
    pub result: Option<String>,
    /// Couple messages of different versions of OSI.
    pub any_version: bool,
}

/// Couples two FMUs.
///
/// # Errors
/// Names the FMUs and variables that do not go together.
pub fn couple(source: &Package, model: &Package, wanted: &Wanted) -> Result<Coupling> {
    let outputs = choose(source, "output", wanted.output.as_deref())?;
    let inputs = choose(model, "input", wanted.input.as_deref())?;
    let result = match (&wanted.result, declared(model, "output").first()) {
        (Some(name), _) => choose(model, "output", Some(name))?.first().copied().cloned(),
        (None, first) => first.map(|binary| (*binary).clone()),
    };
    let (output, input) = match (outputs.as_slice(), inputs.as_slice()) {
        ([output], [input]) => (*output, *input),
        _ => {
            let mut pairs = outputs.iter().flat_map(|output| {
                let same = |input: &&&Binary| input.mime.message() == output.mime.message();
                inputs.iter().filter(same).map(move |input| (*output, *input))
            });
            let names = |list: &[&Binary]| {
                list.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", ")
            };
            match (pairs.next(), pairs.next()) {
                (Some(pair), None) => pair,
                _ => bail!(
                    "{} has the outputs {} and {} has the inputs {}: say which go together \
                     (--connect OUTPUT=INPUT)",
                    source.name,
                    names(&outputs),
                    model.name,
                    names(&inputs)
                ),
            }
        }
    };
    agree(source, output, model, input, wanted.any_version)?;
    Ok(Coupling { output: output.clone(), input: input.clone(), result })
}

/// The binary outputs of these names; without names all that say what they carry.
///
/// # Errors
/// When there is none, or none of a name.
pub fn outputs(package: &Package, names: &[String]) -> Result<Vec<Binary>> {
    let chosen = match names {
        [] => choose(package, "output", None)?,
        names => {
            let one = |name: &String| choose(package, "output", Some(name));
            names.iter().map(one).collect::<Result<Vec<_>>>()?.concat()
        }
    };
    Ok(chosen.into_iter().cloned().collect())
}

/// The one variable of a causality, for which there is an option where there are several.
///
/// # Errors
/// When there is none, or there are several and none was named.
pub fn the_only(
    package: &Package,
    causality: &str,
    wanted: Option<&str>,
    option: &str,
) -> Result<Binary> {
    match choose(package, causality, wanted)?.as_slice() {
        [binary] => Ok((*binary).clone()),
        several => {
            let names: Vec<&str> = several.iter().map(|binary| binary.name.as_str()).collect();
            bail!(
                "{} has the {causality}s {}: say which ({option})",
                package.name,
                names.join(", ")
            )
        }
    }
}

/// The binary variables of a causality that say what they carry.
fn declared<'a>(package: &'a Package, causality: &str) -> Vec<&'a Binary> {
    let mut all = package.description.binaries_of(causality);
    all.retain(|binary| binary.declared);
    all
}

/// The binary variables of a causality, or the one that was asked for.
fn choose<'a>(
    package: &'a Package,
    causality: &str,
    wanted: Option<&str>,
) -> Result<Vec<&'a Binary>> {
    let all = package.description.binaries_of(causality);
    let listed = |list: &[&Binary]| -> String {
        list.iter().map(|binary| binary.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    if let Some(name) = wanted {
        let found = all.iter().find(|binary| binary.name == name).with_context(|| {
            let there = if all.is_empty() { "none".to_owned() } else { listed(&all) };
            format!("{} has no binary {causality} {name}; there is {there}", package.name)
        })?;
        return Ok(vec![found]);
    }
    let chosen = declared(package, causality);
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let name = &package.name;
    if !all.is_empty() {
        bail!(
            "{name} has no binary {causality} that says what it carries; if {} does, name it \
             (--connect OUTPUT=INPUT)",
            listed(&all)
        );
    }
    let others: Vec<String> = package
        .description
        .binaries
        .iter()
        .map(|binary| format!("{} ({})", binary.name, binary.causality))
        .collect();
    if others.is_empty() {
        bail!(
            "{name} has no binary {causality}: no variable in its modelDescription.xml carries \
             the annotation osmp-binary-variable (net.pmsf.osmp)"
        );
    }
    let role = if causality == "output" { "source" } else { "model" };
    bail!(
        "{name} has no binary {causality}, which a {role} needs; its binary variables are {}",
        others.join(", ")
    )
}

/// Whether an output and an input carry the same messages.
fn agree(
    source: &Package,
    output: &Binary,
    model: &Package,
    input: &Binary,
    any_version: bool,
) -> Result<()> {
    let differ = |what: &str, from: &str, to: &str, remedy: &str| {
        format!(
            "{what} differ: {}: {} gives {from}, {}: {} takes {to}{remedy}",
            source.name, output.name, model.name, input.name
        )
    };
    let (from, to) = (&output.mime, &input.mime);
    // Whoever named one of which nothing is known knows what it is.
    if from.is_unknown() || to.is_unknown() {
        return Ok(());
    }
    ensure!(
        from.essence == to.essence && from.message() == to.message(),
        differ("message types", from.message(), to.message(), "")
    );
    // A reader of packed messages reads plain ones as well.
    let reads = from.encoding() == to.encoding()
        || (from.encoding(), to.encoding()) == ("protobuf", "packed");
    ensure!(reads, differ("encodings", from.encoding(), to.encoding(), ""));
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".into());
    ensure!(
        any_version || from.version == to.version,
        differ(
            "versions of OSI",
            &version(&from.version),
            &version(&to.version),
            " (--any-version couples them all the same)"
        )
    );
    Ok(())
}
