//! The messages that ROS 2 makes of a service or an action. Recordings of calls carry them, and
//! as their definition the whole service or action.
//!
//! Their names and fields are those of rosidl (`rosidl_parser/definition.py`: Service, Action).

use std::path::Path;

use anyhow::{ensure, Context, Result};

use super::line::uncomment;
use crate::package::package_of;

/// A message by its full name, and its lines with their numbers in the text.
type MessageText = (String, Vec<(usize, String)>);

/// What is recorded of each call, whatever it is of.
const EVENT_INFO: MadeMessage = (
    "service_msgs/ServiceEventInfo",
    "uint8 REQUEST_SENT = 0
uint8 REQUEST_RECEIVED = 1
uint8 RESPONSE_SENT = 2
uint8 RESPONSE_RECEIVED = 3
uint8 event_type
builtin_interfaces/Time stamp
char[16] client_gid
int64 sequence_number",
);

/// What tells goals of actions apart.
const UUID: MadeMessage = ("unique_identifier_msgs/UUID", "uint8[16] uuid");

/// The name of a message that no definition has, and its text; `@` stands for the name of the
/// service or action.
type MadeMessage = (&'static str, &'static str);

/// The event of the calls whose messages begin so.
macro_rules! event {
    ($of:literal) => {
        (
            concat!($of, "_Event"),
            concat!(
                "service_msgs/ServiceEventInfo info\n",
                $of,
                "_Request[<=1] request\n",
                $of,
                "_Response[<=1] response"
            ),
        )
    };
}

/// What a service or an action is made of.
struct Interface {
    what: &'static str,
    /// The folder of a package that its files are in, and the end of their names.
    folder: &'static str,
    /// What the names of the messages between the lines of `---` end with.
    parts: &'static [&'static str],
    /// Messages that are made of those.
    made: &'static [MadeMessage],
}

const SERVICE: Interface = Interface {
    what: "a service",
    folder: "srv",
    parts: &["@_Request", "@_Response"],
    made: &[event!("@"), EVENT_INFO],
};

const ACTION: Interface = Interface {
    what: "an action",
    folder: "action",
    parts: &["@_Goal", "@_Result", "@_Feedback"],
    made: &[
        ("@_SendGoal_Request", "unique_identifier_msgs/UUID goal_id\n@_Goal goal"),
        ("@_SendGoal_Response", "bool accepted\nbuiltin_interfaces/Time stamp"),
        event!("@_SendGoal"),
        ("@_GetResult_Request", "unique_identifier_msgs/UUID goal_id"),
        ("@_GetResult_Response", "int8 status\n@_Result result"),
        event!("@_GetResult"),
        ("@_FeedbackMessage", "unique_identifier_msgs/UUID goal_id\n@_Feedback feedback"),
        EVENT_INFO,
        UUID,
    ],
};

impl Interface {
    /// What a type is of, by its full name.
    fn find(name: &str) -> Option<&'static Interface> {
        let folder = name.rsplit_once('/')?.0.rsplit('/').next()?;
        [&SERVICE, &ACTION].into_iter().find(|interface| interface.folder == folder)
    }

    /// The names of all its messages, with `@` for its own.
    fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.parts.iter().copied().chain(self.made.iter().map(|(name, _)| *name))
    }

    /// The name of the service or action that a message is of; none of what is called as none.
    fn base<'n>(&self, name: &'n str) -> Option<&'n str> {
        let ends = self.names().filter_map(|end| end.strip_prefix('@'));
        // `_SendGoal_Request` before `_Request`.
        ends.filter_map(|end| name.strip_suffix(end)).min_by_key(|base| base.len())
    }
}

/// The package of a type `pkg/srv/Name_Event` or `pkg/action/Name_Goal`, empty in `srv/Name_Event`.
/// None where the type is of no service and no action.
pub(super) fn package_of_interface(name: &str) -> Option<&str> {
    let folder = Interface::find(name)?.folder;
    Some(name.rsplit_once('/')?.0.strip_suffix(folder)?.trim_end_matches('/'))
}

/// The folder and the name of the file in the package that defines it.
pub(super) fn file_of_interface(name: &str) -> Option<(&'static str, String)> {
    let interface = Interface::find(name)?;
    let base = interface.base(name).unwrap_or(name).rsplit('/').next()?;
    Some((interface.folder, format!("{base}.{}", interface.folder)))
}

/// The service or action that a file defines by its place: `pkg/srv/Name`, or `srv/Name` where the
/// file lies in no such folder. None of a file that by its name is neither.
fn path_interface_name(path: &Path) -> Option<String> {
    let end = path.extension()?.to_ascii_lowercase();
    let interface = [&SERVICE, &ACTION].into_iter().find(|one| end == one.folder)?;
    let stem = path.file_stem()?.to_string_lossy();
    let package = package_of(path, interface.folder);
    let before = package.map_or_else(String::new, |package| format!("{package}/"));
    Some(format!("{before}{}/{stem}", interface.folder))
}

/// The messages that a file of a service or an action has between its lines of `---`, by their
/// full names; none of another file.
pub fn interface_messages(path: &Path) -> Vec<String> {
    let name = path_interface_name(path);
    let interface = name.as_deref().and_then(Interface::find);
    let parts = interface.iter().flat_map(|interface| interface.parts);
    parts.map(|end| end.replace('@', name.as_deref().unwrap_or_default())).collect()
}

/// The full name of a message of such a file by its own name, `Name_Event`; the first message where
/// none is called so.
pub(super) fn interface_message(path: &Path, own: Option<&str>) -> Option<String> {
    let name = path_interface_name(path)?;
    let own = own.and_then(|own| own.rsplit('/').next());
    let mut names = Interface::find(&name)?.names().map(|end| end.replace('@', &name));
    let first = names.clone().next();
    names.find(|name| name.rsplit('/').next() == own).or(first)
}

/// Whether a line parts a service or an action.
pub(super) fn is_divider(line: &str) -> bool {
    uncomment(line).trim() == "---"
}

/// The texts of a service's or an action's messages, of which `name` is one and comes first.
///
/// # Errors
/// When it has not the parts that it must have, or none of its messages is called so.
pub(super) fn split_interface(name: &str, lines: &[(usize, &str)]) -> Result<Vec<MessageText>> {
    let interface = Interface::find(name).context("neither a service nor an action")?;
    let Interface { what, parts, made, .. } = interface;
    let texts: Vec<&[(usize, &str)]> = lines.split(|(_, line)| is_divider(line)).collect();
    ensure!(
        texts.len() == parts.len(),
        "{name}: {what} has {} parts with lines of '---' between them, not {}",
        parts.len(),
        texts.len()
    );
    let base = interface.base(name);
    let base = base.with_context(|| {
        format!(
            "{name} is {what}; name one of its messages, such as {}",
            parts[0].replace('@', name)
        )
    })?;
    let parts = parts.iter().zip(texts).map(|(end, text)| {
        let own = text.iter().map(|(number, line)| (*number, (*line).to_owned()));
        (end.replace('@', base), own.collect())
    });
    // The others are of ROS 2, and a service may be of ROS 1.
    let is_made = made.iter().any(|(end, _)| end.replace('@', base) == name);
    let made = made.iter().filter(|_| is_made).map(|(end, text)| {
        let text = text.replace('@', base);
        (end.replace('@', base), text.lines().map(|line| (1, line.to_owned())).collect())
    });
    let mut messages: Vec<MessageText> = parts.chain(made).collect();
    messages.sort_by_key(|(message, _)| message != name);
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Schema;
    use crate::msg::{read_text, Dialect};

    const SERVICE: &str = "# What is added.\nPoint[] points\n---\nstring text\n";

    fn read(text: &str, name: &str) -> Result<Schema> {
        let point = format!("{}\nMSG: p/Point\nfloat64 x\n", "=".repeat(80));
        read_text(&format!("{text}{point}"), name, Dialect::Ros2, name)
    }

    /// The types of a schema and their fields.
    fn fields(schema: &Schema) -> Vec<String> {
        let records = schema.types.iter().filter_map(|def| match def {
            crate::model::TypeDef::Record(record) => Some(record),
            crate::model::TypeDef::Enum(_) => None,
        });
        let text = records.map(|record| {
            let fields: Vec<&str> =
                record.fields.iter().map(|f| f.name.original.as_str()).collect();
            format!("{}: {}", record.name.original, fields.join(" "))
        });
        text.collect()
    }

    #[test]
    fn services_give_requests_responses_and_events() {
        let schema = read(SERVICE, "p/srv/Add_Event").unwrap();
        assert_eq!(schema.root().name.original, "p/srv/Add_Event");
        let types = fields(&schema);
        for words in [
            "p/srv/Add_Event: info request response",
            "service_msgs/msg/ServiceEventInfo: event_type stamp client_gid sequence_number",
            "p/srv/Add_Request: points",
            "p/srv/Add_Response: text",
            "p/msg/Point: x",
        ] {
            assert!(types.iter().any(|line| line == words), "no {words} in {types:?}");
        }
        let request = fields(&read(SERVICE, "p/srv/Add_Request").unwrap());
        assert_eq!(request, ["p/msg/Point: x", "p/srv/Add_Request: points"]);
    }

    #[test]
    fn actions_give_goals_and_feedback() {
        let text = "int32 order\n---\nint32[] sequence\n---\nint32[] partial\n";
        for (name, words) in [
            ("FeedbackMessage", "goal_id feedback"),
            ("Feedback", "partial"),
            ("SendGoal_Event", "info request response"),
            ("SendGoal_Request", "goal_id goal"),
            ("SendGoal_Response", "accepted stamp"),
            ("GetResult_Event", "info request response"),
            ("GetResult_Request", "goal_id"),
            ("GetResult_Response", "status result"),
        ] {
            let name = format!("p/action/Fib_{name}");
            let schema = read(text, &name).unwrap();
            assert_eq!(schema.root().name.original, name);
            let own: Vec<&str> =
                schema.root().fields.iter().map(|f| f.name.original.as_str()).collect();
            assert_eq!(own.join(" "), words, "{name}");
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        let error = |text: &str, name: &str| format!("{:#}", read(text, name).unwrap_err());
        let said = error("int8 a\n---\nint8 b\n---\nint8 c\n", "p/srv/Add_Event");
        assert!(said.contains("a service has 2 parts with lines of '---' between them, not 3"));
        let said = error(SERVICE, "p/srv/Add");
        assert!(said.contains("p/srv/Add is a service; name one of its messages"), "{said}");
        assert!(error("int8 a b\n---\n", "p/srv/Add_Event").contains("Add_Event:1"));
        let said = error("int8 a\n---\nint8 b\n", "p/msg/Add");
        assert!(said.contains("put each part into a separate"), "{said}");
    }
}
