//! Which output of the source goes into which input of the model, and whether
//! the two understand each other.

use anyhow::{bail, ensure, Context, Result};

use crate::package::description::Binary;
use crate::package::Package;

/// How variables are named where two FMUs are coupled, and where there is one FMU.
const CONNECT: &str = "--connect OUTPUT=INPUT";
const VARIABLE: &str = "--variable NAME";

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
pub struct VariableChoice {
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
pub fn couple(source: &Package, model: &Package, wanted: &VariableChoice) -> Result<Coupling> {
    let outputs = choose_binary(source, "output", wanted.output.as_deref(), CONNECT)?;
    let inputs = choose_binary(model, "input", wanted.input.as_deref(), CONNECT)?;
    let result = match (&wanted.result, declared_binaries(model, "output").first()) {
        (Some(name), _) => {
            choose_binary(model, "output", Some(name), CONNECT)?.first().copied().cloned()
        }
        (None, first) => first.map(|binary| (*binary).clone()),
    };
    let (output, input) = match (outputs.as_slice(), inputs.as_slice()) {
        ([output], [input]) => (*output, *input),
        _ => {
            // Those of the same message, and of them those that agree in all.
            let same =
                |output: &Binary, input: &Binary| input.mime.message() == output.mime.message();
            let fits = |output: &Binary, input: &Binary| {
                check_compatible(source, output, model, input, wanted).is_ok()
            };
            let both = |output: &Binary, input: &Binary| same(output, input) && fits(output, input);
            let names = |list: &[&Binary]| {
                list.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", ")
            };
            let pair = only_pair(&outputs, &inputs, &both)
                .or_else(|| only_pair(&outputs, &inputs, &same))
                .or_else(|| only_pair(&outputs, &inputs, &fits));
            match pair {
                Some(pair) => pair,
                None => bail!(
                    "{} has the outputs {} and {} has the inputs {}: connect them by --connect \
                     OUTPUT=INPUT",
                    source.name,
                    names(&outputs),
                    model.name,
                    names(&inputs)
                ),
            }
        }
    };
    check_compatible(source, output, model, input, wanted)?;
    Ok(Coupling { output: output.clone(), input: input.clone(), result })
}

/// The one output and input of which something holds; none where it holds of several.
fn only_pair<'b>(
    outputs: &[&'b Binary],
    inputs: &[&'b Binary],
    holds: &dyn Fn(&Binary, &Binary) -> bool,
) -> Option<(&'b Binary, &'b Binary)> {
    let all = outputs.iter().flat_map(|output| inputs.iter().map(move |input| (*output, *input)));
    let mut found = all.filter(|(output, input)| holds(output, input));
    found.next().filter(|_| found.next().is_none())
}

/// The binary outputs of these names; without names all that say what they carry.
///
/// # Errors
/// When there is none, or none of a name.
pub fn outputs(package: &Package, names: &[String]) -> Result<Vec<Binary>> {
    let chosen = match names {
        [] => choose_binary(package, "output", None, VARIABLE)?,
        names => {
            let one = |name: &String| choose_binary(package, "output", Some(name), VARIABLE);
            names.iter().map(one).collect::<Result<Vec<_>>>()?.concat()
        }
    };
    Ok(chosen.into_iter().cloned().collect())
}

/// The input of a name, or else the one that takes messages that are found to fit.
///
/// # Errors
/// When there is none, or several fit and none was named.
pub fn input(
    package: &Package,
    wanted: Option<&str>,
    fits: impl Fn(&Binary) -> bool,
) -> Result<Binary> {
    let inputs = choose_binary(package, "input", wanted, VARIABLE)?;
    let fitting: Vec<&Binary> = inputs.iter().copied().filter(|input| fits(input)).collect();
    match (inputs.as_slice(), fitting.as_slice()) {
        ([binary], _) | (_, [binary]) => Ok((*binary).clone()),
        _ => {
            let names: Vec<&str> = inputs.iter().map(|binary| binary.name.as_str()).collect();
            bail!("{} has the inputs {}: choose one ({VARIABLE})", package.name, names.join(", "))
        }
    }
}

/// The binary variables of a causality that say what they carry.
fn declared_binaries<'a>(package: &'a Package, causality: &str) -> Vec<&'a Binary> {
    let mut all = package.description.binaries_of(causality);
    all.retain(|binary| binary.declared);
    all
}

/// The binary variables of a causality, or the one that was asked for by an option.
fn choose_binary<'a>(
    package: &'a Package,
    causality: &str,
    wanted: Option<&str>,
    option: &str,
) -> Result<Vec<&'a Binary>> {
    let all = package.description.binaries_of(causality);
    let listed = |list: &[&Binary]| -> String {
        list.iter().map(|binary| binary.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    if let Some(name) = wanted {
        let found = all.iter().find(|binary| binary.name == name).with_context(|| {
            let there = match all.is_empty() {
                true => "it has none".to_owned(),
                false => format!("choose from {}", listed(&all)),
            };
            format!("{} has no binary {causality} {name}; {there}", package.name)
        })?;
        return Ok(vec![found]);
    }
    let chosen = declared_binaries(package, causality);
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let name = &package.name;
    if !all.is_empty() {
        bail!(
            "{name} has no binary {causality} that declares its message type; if it is {}, name it \
             ({option})",
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

/// Whether an output and an input carry the same messages. Who named both knows what they
/// carry: of some the description says nothing or another thing, as a parameter decides it.
fn check_compatible(
    source: &Package,
    output: &Binary,
    model: &Package,
    input: &Binary,
    wanted: &VariableChoice,
) -> Result<()> {
    let named = wanted.output.is_some() && wanted.input.is_some();
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
    let same = from.essence == to.essence && from.message() == to.message();
    ensure!(
        same || named,
        differ(
            "message types",
            from.message(),
            to.message(),
            " (--connect OUTPUT=INPUT couples them anyway)"
        )
    );
    if from.essence != to.essence {
        return Ok(());
    }
    // A reader of packed messages reads plain ones as well.
    let reads = from.encoding() == to.encoding()
        || (from.encoding(), to.encoding()) == ("protobuf", "packed");
    ensure!(reads, differ("encodings", from.encoding(), to.encoding(), ""));
    let nothing_said = from.version.is_none() || to.version.is_none();
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".into());
    ensure!(
        wanted.any_version || from.version == to.version || (named && nothing_said),
        differ(
            "versions of OSI",
            &version(&from.version),
            &version(&to.version),
            " (--any-version couples them anyway)"
        )
    );
    Ok(())
}
