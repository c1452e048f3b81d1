//! modelDescription.xml of FMI 2.0 and 3.0: the variables of an FMU and,
//! through OSMP's annotations, its binary variables.
//!
//! An error says what is wrong and with which variable; who calls names the
//! FMU.

use std::collections::BTreeMap;

use anyhow::{bail, ensure, Context, Result};
use roxmltree::{Document, Node};
use wiregauge_system::quantity::parse_time;

use crate::package::mime::Mime;

/// Name of OSMP's annotations.
const OSMP: &str = "net.pmsf.osmp";

/// The version of the standard that an FMU follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fmi {
    /// FMI 2.0.
    Two,
    /// FMI 3.0.
    Three,
}

/// What an FMU says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The standard that it follows.
    pub fmi: Fmi,
    /// Name of the model.
    pub model: String,
    /// Name of its shared object, without ending.
    pub identifier: String,
    /// What it must be instantiated with: `guid`, `instantiationToken`.
    pub token: String,
    /// The version of OSI that it was built against.
    pub osi_version: Option<String>,
    /// The step that it proposes, in seconds.
    pub step: Option<f64>,
    /// What it proposes where that is no step size.
    pub no_step: Option<String>,
    /// The simulation time at which it is to start, in seconds.
    pub start: Option<f64>,
    /// The simulation time that it proposes as the end, in seconds.
    pub stop: Option<f64>,
    /// Whether it takes steps of varying length. By the standard one that does not say so
    /// does not.
    pub varies: bool,
    /// Its variables, those of binary variables in FMI 2 included.
    pub variables: Vec<Variable>,
    /// Its binary variables.
    pub binaries: Vec<Binary>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value reference.
    pub reference: u32,
    /// Name of its type as the standard spells it: `Integer`, `Float64`.
    pub kind: String,
    /// `input`, `output`, `parameter`, …
    pub causality: String,
    /// Whether it has several values, or as many as another variable says (`Dimension` in FMI 3.0).
    pub is_array: bool,
}

/// A binary variable: one of FMI 3, or three integers by OSMP's convention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// Its name: `OSMPSensorViewOut`.
    pub name: String,
    /// `input`, `output`, …
    pub causality: String,
    /// What it carries.
    pub mime: Mime,
    /// How it is reached.
    pub handle: Handle,
    /// Whether the description says what it carries. One that does not is
    /// coupled only when it is named.
    pub declared: bool,
}

/// How a binary variable is reached, as value references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// Address and size in three integers: `base.lo`, `base.hi`, `size`.
    Pointer([u32; 3]),
    /// One variable of type Binary.
    Whole(u32),
}

impl Description {
    /// Reads the text of a modelDescription.xml.
    ///
    /// # Errors
    /// Says what is wrong and with which variable.
    pub fn parse(text: &str) -> Result<Description> {
        let document = Document::parse(text).context("modelDescription.xml is not XML")?;
        let root = document.root_element();
        ensure!(
            root.tag_name().name() == "fmiModelDescription",
            "modelDescription.xml has a <{}> in place of <fmiModelDescription>",
            root.tag_name().name()
        );
        let version = root.attribute("fmiVersion").unwrap_or("none");
        let (fmi, token) = match version {
            "2.0" => (Fmi::Two, "guid"),
            // Not its drafts, such as 3.0-beta.3: their functions may take other arguments.
            _ if version == "3.0" || version.starts_with("3.0.") => {
                (Fmi::Three, "instantiationToken")
            }
            _ => bail!("fmiVersion is {version}; wiregauge runs 2.0 and 3.0"),
        };
        let interface = child(root, "CoSimulation")
            .context("it is not an FMU for co-simulation: <CoSimulation> is missing")?;
        ensure!(
            interface.attribute("needsExecutionTool") != Some("true"),
            "it needs the tool that it was exported from (needsExecutionTool)"
        );
        let osi_version = vendor_annotation(root, fmi)
            .and_then(|osmp| osmp.attribute("osi-version"))
            .map(str::to_owned);
        let experiment = child(root, "DefaultExperiment");
        let time = |name: &str| -> Result<Option<f64>> {
            experiment.and_then(|e| e.attribute(name)).map(|text| time_of(name, text)).transpose()
        };
        let (start, stop) = (time("startTime")?, time("stopTime")?);
        let varies = interface.attribute("canHandleVariableCommunicationStepSize");
        let (variables, parts, bare) = variables(root, fmi)?;
        let mut binaries = binaries(parts, osi_version.as_deref())?;
        binaries.extend(bare);
        let triples = undeclared_binaries(&variables, &binaries);
        binaries.extend(triples);
        let proposed = experiment.and_then(|e| e.attribute("stepSize"));
        let step = proposed.and_then(|text| step_size(text.trim()).ok());
        Ok(Description {
            fmi,
            model: root.attribute("modelName").unwrap_or_default().to_owned(),
            identifier: required(interface, "modelIdentifier")?.to_owned(),
            token: required(root, token)?.to_owned(),
            osi_version,
            step,
            no_step: proposed.filter(|_| step.is_none()).map(str::to_owned),
            start,
            stop,
            varies: varies.is_some_and(|said| ["true", "1"].contains(&said.trim())),
            variables,
            binaries,
        })
    }

    /// The variable with this name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The binary variables that are inputs or outputs.
    pub fn binaries_of(&self, causality: &str) -> Vec<&Binary> {
        self.binaries.iter().filter(|binary| binary.causality == causality).collect()
    }
}

/// Reads a step size: a number of seconds, or a time as `10ms`, from a nanosecond to
/// a million seconds.
///
/// # Errors
/// Says that it is none.
pub fn step_size(text: &str) -> Result<f64> {
    let size = text.parse().ok();
    let size = size.or_else(|| parse_time(text).ok().map(|time| time.as_secs_f64()));
    size.filter(|size| (1e-9..=1e6).contains(size)).with_context(|| {
        format!(
            "'{text}' is not a step size; give seconds from 1e-9 to 1e6, or a time such as 10ms"
        )
    })
}

/// Reads a simulation time of the DefaultExperiment in seconds.
fn time_of(name: &str, text: &str) -> Result<f64> {
    let time = text.trim().parse().ok().filter(|time: &f64| time.abs() <= 1e12);
    time.with_context(|| {
        format!(
            "the {name} '{text}' in its modelDescription.xml is not a time; it must be a number of \
             seconds of at most 1e12"
        )
    })
}

impl Fmi {
    /// `FMI 2.0`, `FMI 3.0`.
    pub fn name(self) -> &'static str {
        match self {
            Fmi::Two => "FMI 2.0",
            Fmi::Three => "FMI 3.0",
        }
    }
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|child| child.tag_name().name() == name)
}

fn required<'a>(node: Node<'a, 'a>, attribute: &str) -> Result<&'a str> {
    node.attribute(attribute).with_context(|| {
        format!("<{}> in modelDescription.xml lacks '{attribute}'", node.tag_name().name())
    })
}

/// OSMP's mark of the whole FMU.
fn vendor_annotation<'a>(root: Node<'a, 'a>, fmi: Fmi) -> Option<Node<'a, 'a>> {
    let parent = match fmi {
        Fmi::Two => "VendorAnnotations",
        Fmi::Three => "Annotations",
    };
    child(osmp(child(root, parent)?)?, "osmp")
}

/// OSMP's annotation among others.
fn osmp<'a>(annotations: Node<'a, 'a>) -> Option<Node<'a, 'a>> {
    annotations
        .children()
        .find(|a| a.attribute("name").or_else(|| a.attribute("type")) == Some(OSMP))
}

/// A variable that OSMP says is a binary variable or a part of one.
struct BinaryPart {
    variable: Variable,
    binary: String,
    role: String,
    mime: String,
    /// What FMI 3 itself says of a Binary.
    own_mime: Option<String>,
}

/// The variables, those that OSMP says something of, and FMI 3's binary
/// variables that it does not mention.
type Variables = (Vec<Variable>, Vec<BinaryPart>, Vec<Binary>);

fn variables(root: Node, fmi: Fmi) -> Result<Variables> {
    let list = child(root, "ModelVariables").context("<ModelVariables> is missing")?;
    let (mut variables, mut parts, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for node in list.children().filter(Node::is_element) {
        let name = required(node, "name")?.to_owned();
        let reference = required(node, "valueReference")?;
        let reference = reference
            .parse()
            .with_context(|| format!("{name}: valueReference '{reference}' is not a number"))?;
        let kind = match fmi {
            Fmi::Three => node.tag_name().name(),
            Fmi::Two => {
                const KINDS: [&str; 5] = ["Real", "Integer", "Boolean", "String", "Enumeration"];
                node.children()
                    .map(|child| child.tag_name().name())
                    .find(|name| KINDS.contains(name))
                    .with_context(|| format!("{name} has no type"))?
            }
        };
        let causality = node.attribute("causality").unwrap_or("local").to_owned();
        let is_array = node.children().any(|child| {
            child.tag_name().name() == "Dimension" && child.attribute("start") != Some("1")
        });
        let variable = Variable { name, reference, kind: kind.to_owned(), causality, is_array };
        let annotation = child(node, "Annotations")
            .and_then(osmp)
            .and_then(|osmp| child(osmp, "osmp-binary-variable"));
        if let Some(annotation) = annotation {
            ensure!(!is_array, "{}: an array cannot be a binary variable of OSMP", variable.name);
            let of = |key| {
                annotation.attribute(key).with_context(|| {
                    format!("{}: its OSMP annotation lacks '{key}'", variable.name)
                })
            };
            parts.push(BinaryPart {
                variable: variable.clone(),
                binary: of("name")?.to_owned(),
                role: of("role")?.to_owned(),
                mime: annotation
                    .attribute("mime-type")
                    .unwrap_or("application/octet-stream")
                    .to_owned(),
                own_mime: node.attribute("mimeType").map(str::to_owned),
            });
        } else if kind == "Binary" && !is_array {
            let mime = node.attribute("mimeType").and_then(|mime| Mime::parse(mime).ok());
            let mime = mime.unwrap_or_else(Mime::unknown);
            bare.push(Binary {
                name: variable.name.clone(),
                causality: variable.causality.clone(),
                handle: Handle::Whole(variable.reference),
                declared: mime.is_osi(),
                mime,
            });
        }
        variables.push(variable);
    }
    Ok((variables, parts, bare))
}

/// Three integers that are named as OSMP names them, without a word of what
/// they are.
fn undeclared_binaries(variables: &[Variable], known: &[Binary]) -> Vec<Binary> {
    let find = |name: String, causality: &str| {
        let found = variables.iter().find(|variable| variable.name == name)?;
        let fits = ["Integer", "Int32"].contains(&found.kind.as_str())
            && found.causality == causality
            && !found.is_array;
        fits.then_some(found.reference)
    };
    let mut found = Vec::new();
    for variable in variables {
        let Some(name) = variable.name.strip_suffix(".base.lo") else { continue };
        if known.iter().any(|binary| binary.name == name) {
            continue;
        }
        let of = |part: &str| find(format!("{name}.{part}"), &variable.causality);
        let (Some(lo), Some(hi), Some(size)) = (of("base.lo"), of("base.hi"), of("size")) else {
            continue;
        };
        found.push(Binary {
            name: name.to_owned(),
            causality: variable.causality.clone(),
            mime: Mime::unknown(),
            handle: Handle::Pointer([lo, hi, size]),
            declared: false,
        });
    }
    found
}

/// Puts the parts of binary variables together.
fn binaries(parts: Vec<BinaryPart>, osi_version: Option<&str>) -> Result<Vec<Binary>> {
    let mut order = Vec::new();
    let mut by_name: BTreeMap<String, Vec<BinaryPart>> = BTreeMap::new();
    for part in parts {
        if !by_name.contains_key(&part.binary) {
            order.push(part.binary.clone());
        }
        by_name.entry(part.binary.clone()).or_default().push(part);
    }
    order.into_iter().map(|name| binary(&by_name[&name], name, osi_version)).collect()
}

fn binary(parts: &[BinaryPart], name: String, osi_version: Option<&str>) -> Result<Binary> {
    let role = |role: &str| -> Result<Option<&BinaryPart>> {
        let mut of_role = parts.iter().filter(|part| part.role == role);
        let first = of_role.next();
        if let (Some(one), Some(other)) = (first, of_role.next()) {
            let (one, other) = (&one.variable.name, &other.variable.name);
            bail!("{name} has two variables with the role {role}: {one} and {other}");
        }
        Ok(first)
    };
    let first = &parts[0];
    let whole = role("full")?;
    let triple = [role("base.lo")?, role("base.hi")?, role("size")?];
    let handle = match whole {
        Some(whole) if whole.variable.kind == "Binary" && parts.len() == 1 => {
            Handle::Whole(whole.variable.reference)
        }
        Some(whole) => bail!(
            "{name}: {} has the role full, so it must be a Binary and the only variable; it is {} \
             and one of {}",
            whole.variable.name,
            whole.variable.kind,
            parts.len()
        ),
        None => {
            let mut references = [0; 3];
            let wanted = ["base.lo", "base.hi", "size"];
            for ((reference, part), wanted) in references.iter_mut().zip(triple).zip(wanted) {
                let part = part.with_context(|| {
                    format!(
                        "{name} is incomplete: the variable {name}.{wanted} with the role {wanted} \
                         is missing"
                    )
                })?;
                ensure!(
                    ["Integer", "Int32"].contains(&part.variable.kind.as_str()),
                    "{name}: {} must be an integer of 32 bits, but it is {}",
                    part.variable.name,
                    part.variable.kind
                );
                *reference = part.variable.reference;
            }
            Handle::Pointer(references)
        }
    };
    for part in parts {
        ensure!(
            part.mime == first.mime,
            "{name}: the MIME types of its parts differ: {} says '{}', {} says '{}'",
            first.variable.name,
            first.mime,
            part.variable.name,
            part.mime
        );
        ensure!(
            part.variable.causality == first.variable.causality,
            "{name}: {} is {}, {} is {}",
            first.variable.name,
            first.variable.causality,
            part.variable.name,
            part.variable.causality
        );
        if let Some(own) = part.own_mime.as_ref().filter(|own| **own != part.mime) {
            bail!("{name}: its mimeType '{own}' and its annotation '{}' differ", part.mime);
        }
    }
    let mut mime = Mime::parse(&first.mime).map_err(anyhow::Error::msg).context(name.clone())?;
    // One that does not say which message it takes can say no version of it.
    if mime.is_osi() && mime.message.is_some() {
        mime.version = mime.version.or_else(|| osi_version.map(str::to_owned));
        ensure!(
            mime.version.is_some(),
            "{name}: neither its MIME type '{}' nor the FMU's osi-version gives the version of OSI",
            first.mime
        );
    }
    let causality = first.variable.causality.clone();
    Ok(Binary { name, causality, mime, handle, declared: true })
}
